/** As much of the File System Access API as the app uses, in memory, with disks that fail on demand. */
export interface MemoryDirectory {
  handle: FileSystemDirectoryHandle
  /** Path → text. */
  files(): Record<string, string>
  put(path: string, text: string): void
  /** The next write or removal throws, before or after it took effect. */
  failNext(when: 'before' | 'after', name?: string): void
  /** As after a reload, until the user allows it again. */
  setPermission(state: PermissionState): void
}

type Entry = Map<string, Entry> | Uint8Array<ArrayBuffer>

export function createMemoryDirectory(): MemoryDirectory {
  const root = new Map<string, Entry>()
  let permission: PermissionState = 'granted'
  let failure: { when: 'before' | 'after'; name: string } | undefined

  const fail = (when: 'before' | 'after') => {
    if (failure?.when !== when) return
    const { name } = failure
    failure = undefined
    throw new DOMException('the disk says no', name)
  }

  function fileHandle(folder: Map<string, Entry>, name: string) {
    return {
      kind: 'file',
      getFile: () => {
        const bytes = folder.get(name)
        if (!(bytes instanceof Uint8Array)) throw new DOMException('gone', 'NotFoundError')
        return Promise.resolve(new File([bytes], name, { lastModified: Date.UTC(2026, 0, 5) }))
      },
      createWritable: () => {
        let written: Uint8Array<ArrayBuffer> = new Uint8Array()
        return Promise.resolve({
          write: (bytes: Uint8Array<ArrayBuffer>) => {
            fail('before')
            written = bytes.slice()
            return Promise.resolve()
          },
          abort: () => Promise.resolve(),
          close: () => {
            folder.set(name, written)
            fail('after')
            return Promise.resolve()
          },
        })
      },
    }
  }

  function directoryHandle(folder: Map<string, Entry>): unknown {
    return {
      kind: 'directory',
      queryPermission: () => Promise.resolve(permission),
      getDirectoryHandle: (name: string, { create = false } = {}) => {
        const entry = folder.get(name)
        if (entry instanceof Uint8Array) return Promise.reject(new DOMException('a file', 'TypeMismatchError'))
        if (!entry && !create) return Promise.reject(new DOMException('no such folder', 'NotFoundError'))
        const found = entry ?? new Map<string, Entry>()
        folder.set(name, found)
        return Promise.resolve(directoryHandle(found))
      },
      getFileHandle: (name: string, { create = false } = {}) => {
        const entry = folder.get(name)
        if (entry instanceof Map) return Promise.reject(new DOMException('a folder', 'TypeMismatchError'))
        if (!entry && !create) return Promise.reject(new DOMException('no such file', 'NotFoundError'))
        if (!entry) folder.set(name, new Uint8Array())
        return Promise.resolve(fileHandle(folder, name))
      },
      removeEntry: (name: string) => {
        if (!folder.has(name)) return Promise.reject(new DOMException('no such file', 'NotFoundError'))
        fail('before')
        folder.delete(name)
        fail('after')
        return Promise.resolve()
      },
      async *entries() {
        await Promise.resolve()
        for (const [name, entry] of folder) {
          yield [name, entry instanceof Map ? directoryHandle(entry) : fileHandle(folder, name)]
        }
      },
    }
  }

  const walk = (folder: Map<string, Entry>, prefix: string): [string, string][] =>
    [...folder].flatMap(([name, entry]) =>
      entry instanceof Map
        ? walk(entry, `${prefix}${name}/`)
        : [[`${prefix}${name}`, new TextDecoder().decode(entry)] satisfies [string, string]],
    )

  return {
    handle: directoryHandle(root) as FileSystemDirectoryHandle,
    files: () => Object.fromEntries(walk(root, '')),
    put(path, text) {
      let folder = root
      const parts = path.split('/')
      for (const part of parts.slice(0, -1)) {
        const next = folder.get(part) ?? new Map<string, Entry>()
        if (next instanceof Uint8Array) throw new Error(`${part} is a file`)
        folder.set(part, next)
        folder = next
      }
      folder.set(parts.at(-1) ?? '', new TextEncoder().encode(text))
    },
    failNext: (when, name = 'UnknownError') => (failure = { when, name }),
    setPermission: (state) => (permission = state),
  }
}
