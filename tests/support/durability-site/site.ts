import { proxy, wrap, type Remote } from 'comlink'
import type { BenchApi } from './bench.worker.ts'
import type { LedgerWorkerApi } from './ledger.worker.ts'

declare global {
  var startBench: () => Remote<BenchApi>
  var ledger: Remote<LedgerWorkerApi>
  var proxied: typeof proxy
}

globalThis.proxied = proxy
globalThis.startBench = () =>
  wrap<BenchApi>(new Worker(new URL('./bench.worker.ts', import.meta.url), { type: 'module' }))
globalThis.ledger = wrap<LedgerWorkerApi>(
  new Worker(new URL('./ledger.worker.ts', import.meta.url), { type: 'module' }),
)
// A lock held by the page, not only by its worker, keeps the browser from freezing the tab.
void navigator.locks.request(`awake:${crypto.randomUUID()}`, () => new Promise(() => undefined))
