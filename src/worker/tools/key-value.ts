/** A few named texts that outlive the worker. Kept apart from the engine's database: it stands for the outside world. */
export interface KeyValue {
  get(key: string): Promise<string | undefined>
  /** Atomic: no other update of the same key falls between reading and writing. Resolves when the text is kept. */
  update(key: string, change: (old: string | undefined) => string): Promise<void>
  keys(): Promise<string[]>
  clear(): Promise<void>
}

export function createMemoryKeyValue(): KeyValue {
  const texts = new Map<string, string>()
  return {
    get: (key) => Promise.resolve(texts.get(key)),
    update: (key, change) => {
      texts.set(key, change(texts.get(key)))
      return Promise.resolve()
    },
    keys: () => Promise.resolve([...texts.keys()]),
    clear: () => {
      texts.clear()
      return Promise.resolve()
    },
  }
}
