import { del, get, keys, set } from 'idb-keyval'
import { createStrictStore } from '../../strict-store.ts'

/** Handles of folders the user picked. A handle survives a reload; the permission to use it may have to be asked for again. */
export interface PickedHandles {
  load(name: string): Promise<FileSystemDirectoryHandle | undefined>
  put(name: string, handle: FileSystemDirectoryHandle): Promise<void>
  remove(name: string): Promise<void>
  names(): Promise<string[]>
}

export function createPickedHandles(databaseName: string, factory: IDBFactory = indexedDB): PickedHandles {
  const store = createStrictStore(databaseName, factory)
  return {
    load: (name) => get<FileSystemDirectoryHandle>(name, store),
    put: (name, handle) => set(name, handle, store),
    remove: (name) => del(name, store),
    names: () => keys<string>(store),
  }
}
