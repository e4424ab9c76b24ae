import wasmUrl from '@jitl/quickjs-wasmfile-release-sync/wasm?url'
import { spawnBrowserThread } from './browser-thread.ts'
import { createSandboxPool, type SandboxPool } from './create-sandbox-pool.ts'

/** The sandbox of the real application: QuickJS compiled once, threads nested in the caller's. */
export async function openSandbox(options: { size?: number } = {}): Promise<SandboxPool> {
  return createSandboxPool({
    wasm: await WebAssembly.compileStreaming(fetch(wasmUrl)),
    // The parsers are big and only needed when a script is edited.
    compile: async (source) => (await import('./compile.ts')).compileScript(source),
    spawn: spawnBrowserThread,
    atOnce: Math.max(2, navigator.hardwareConcurrency),
    ...options,
  })
}
