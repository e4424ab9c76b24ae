import { wrap, type Remote } from 'comlink'
import type { MeasuredApi } from './measured.worker.ts'

declare global {
  var measured: Remote<MeasuredApi>
}

globalThis.measured = wrap<MeasuredApi>(
  new Worker(new URL('./measured.worker.ts', import.meta.url), { type: 'module' }),
)
// A lock held by the page, not only by its worker, keeps the browser from freezing the tab.
void navigator.locks.request(`awake:${crypto.randomUUID()}`, () => new Promise(() => undefined))
