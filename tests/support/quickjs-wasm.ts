import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** QuickJS as Node finds it; in the browser it is fetched. */
export async function loadQuickjsWasm(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
  return WebAssembly.compile(await readFile(path))
}
