type ImportFunction = (...args: unknown[]) => unknown
export type Watcher = (args: unknown[], call: () => unknown) => unknown

interface ImportSlot {
  watcher: Watcher | undefined
}

/**
 * Emscripten's documented `instantiateWasm` hook, used to stand between SQLite's file layer and the in-memory file. Names of
 * imports are minified and differ from build to build: nothing here knows them.
 */
export class WatchedImports {
  readonly #slots = new Map<string, ImportSlot>()
  #memory: WebAssembly.Memory | null = null

  get names(): string[] {
    return [...this.#slots.keys()]
  }

  /** At most one watcher per import. The returned function takes it away again. */
  watch(name: string, watcher: Watcher): () => void {
    const slot = this.#slots.get(name)
    if (!slot) throw new Error(`sql.js imports nothing called "${name}".`)
    slot.watcher = watcher
    return () => {
      slot.watcher = undefined
    }
  }

  /** The module's memory as it is now; growing it makes earlier views useless. */
  get memory(): Uint8Array<ArrayBuffer> {
    if (!this.#memory) throw new Error('sql.js is not loaded yet.')
    return new Uint8Array(this.#memory.buffer)
  }

  readonly instantiate = async (
    module: WebAssembly.Module,
    imports: WebAssembly.Imports,
  ): Promise<WebAssembly.Instance> => {
    const watched: WebAssembly.Imports = {}
    for (const [namespace, members] of Object.entries(imports)) {
      const wrapped: WebAssembly.ModuleImports = {}
      for (const [name, member] of Object.entries(members)) wrapped[name] = this.#wrap(`${namespace}.${name}`, member)
      watched[namespace] = wrapped
    }
    const instance = await WebAssembly.instantiate(module, watched)
    this.#memory = Object.values(instance.exports).find((each) => each instanceof WebAssembly.Memory) ?? null
    return instance
  }

  #wrap(name: string, member: WebAssembly.ImportValue): WebAssembly.ImportValue {
    if (typeof member !== 'function') return member
    const original = member as ImportFunction
    const slot: ImportSlot = { watcher: undefined }
    this.#slots.set(name, slot)
    return (...args: unknown[]) => (slot.watcher ? slot.watcher(args, () => original(...args)) : original(...args))
  }
}
