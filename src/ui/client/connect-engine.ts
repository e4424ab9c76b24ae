import type { EngineApi } from '#worker/api.ts'
import { wrap } from 'comlink'

declare global {
  /** The engine's API, for power users and tests. */
  var holdfast: EngineApi
}

/**
 * Starts the engine's worker. A worker whose script does not load answers nothing at all: `onBroken` is then the only
 * sign of it.
 */
export function connectEngine(onBroken: (reason: string) => void): EngineApi {
  const worker = new Worker(new URL('../../worker/engine.worker.ts', import.meta.url), {
    type: 'module',
    name: 'holdfast-engine',
  })
  worker.addEventListener('error', (event) => onBroken(event.message || 'The engine could not be loaded.'))
  return wrap<EngineApi>(worker)
}
