import type { FromThread, SpawnThread } from '#worker/sandbox/thread.ts'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'vite'

const ENTRY = fileURLToPath(new URL('./sandbox-thread.ts', import.meta.url))
// Inside node_modules, so that the bundle finds its packages.
const SCRATCH = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))

/** Node's worker threads as sandbox threads. Node runs no TypeScript, so the thread's code is bundled first. */
export async function prepareNodeThreads(): Promise<{ spawn: SpawnThread; remove: () => Promise<void> }> {
  await mkdir(SCRATCH, { recursive: true })
  const folder = await mkdtemp(join(SCRATCH, 'sandbox-thread-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: ENTRY,
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: 'thread.mjs' } },
    },
  })
  const spawn: SpawnThread = (listener) => {
    const worker = new Worker(join(folder, 'thread.mjs'))
    worker.on('message', (message: FromThread) => listener.message(message))
    worker.on('error', (error) => listener.failed(error.message))
    return { post: (message) => worker.postMessage(message), terminate: () => void worker.terminate() }
  }
  return { spawn, remove: () => rm(folder, { recursive: true, force: true }) }
}
