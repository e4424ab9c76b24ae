import { proxy, wrap, type Remote } from 'comlink'
import type { BenchApi } from './bench.worker.ts'
import type { LedgerWorkerApi } from './ledger.worker.ts'
import type { StepsOrder, StepsReport } from './steps.worker.ts'

declare global {
  var startBench: () => Remote<BenchApi>
  var ledger: Remote<LedgerWorkerApi>
  var proxied: typeof proxy
  /** One worker for one order. It is ended as soon as it reports, in the middle of whatever it does, unless the caller does that. */
  var giveOrder: (order: StepsOrder, options?: { isSpared: boolean }) => Promise<StepsReport>
}

globalThis.proxied = proxy
globalThis.startBench = () =>
  wrap<BenchApi>(new Worker(new URL('./bench.worker.ts', import.meta.url), { type: 'module' }))
globalThis.ledger = wrap<LedgerWorkerApi>(
  new Worker(new URL('./ledger.worker.ts', import.meta.url), { type: 'module' }),
)
const startSteps = () => new Worker(new URL('./steps.worker.ts', import.meta.url), { type: 'module' })
let checker: Worker | undefined
globalThis.giveOrder = (order, { isSpared } = { isSpared: false }) =>
  new Promise((resolve, reject) => {
    // Who only looks need not die: one is enough for all looks.
    const worker = order.kind === 'check' ? (checker ??= startSteps()) : startSteps()
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.onmessage = ({ data }: MessageEvent<StepsReport>) => {
      if (worker !== checker && !isSpared) worker.terminate()
      resolve(data)
    }
    worker.postMessage(order)
  })
// A lock held by the page, not only by its worker, keeps the browser from freezing the tab.
void navigator.locks.request(`awake:${crypto.randomUUID()}`, () => new Promise(() => undefined))
