import type { FromThread, SpawnThread } from './thread.ts'

/** A worker nested in the engine's worker. */
export const spawnBrowserThread: SpawnThread = (listener) => {
  const worker = new Worker(new URL('./sandbox.worker.ts', import.meta.url), { type: 'module', name: 'sandbox' })
  worker.addEventListener('message', ({ data }: MessageEvent<FromThread>) => listener.message(data))
  worker.addEventListener('error', (event) => listener.failed(event.message || 'its worker did not load'))
  worker.addEventListener('messageerror', () => listener.failed('a message could not be read'))
  return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() }
}
