import variant from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, type QuickJSWASMModule } from 'quickjs-emscripten-core'
import { LINEAR_MEMORY_BYTES } from './limits.ts'

const PAGE_BYTES = 65_536

/** One QuickJS machine: compiled code, a memory of its own that never grows, and nothing in it yet. */
export interface QuickjsInstance {
  readonly quickjs: QuickJSWASMModule
  readonly memory: WebAssembly.Memory
  readonly exports: WebAssembly.Exports
  /** 0 when there is no room. The library itself does not look. */
  readonly malloc: (bytes: number) => number
  readonly free: (pointer: number) => void
}

export async function createQuickjsInstance(wasm: WebAssembly.Module): Promise<QuickjsInstance> {
  const pages = LINEAR_MEMORY_BYTES / PAGE_BYTES
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  let exports: WebAssembly.Exports | undefined
  let heap: Pick<QuickjsInstance, 'malloc' | 'free'> | undefined

  const imported = await variant.importModuleLoader()
  const unwrapped = 'default' in imported ? imported.default : imported
  const loadModule = 'default' in unwrapped ? unwrapped.default : unwrapped
  const quickjs = await newQuickJSWASMModuleFromVariant({
    ...variant,
    importModuleLoader: () =>
      Promise.resolve(async (args) => {
        const module = await loadModule({
          ...args,
          wasmMemory: memory,
          instantiateWasm(imports: WebAssembly.Imports, onInstance: (instance: WebAssembly.Instance) => void) {
            const instance = new WebAssembly.Instance(wasm, imports)
            exports = instance.exports
            onInstance(instance)
            return instance.exports
          },
        })
        heap = { malloc: (bytes) => module._malloc(bytes), free: (pointer) => module._free(pointer) }
        return module
      }),
  })

  if (exports === undefined || heap === undefined) throw new Error('QuickJS did not start')
  const { malloc, free } = heap
  return { quickjs, memory, exports, malloc, free }
}
