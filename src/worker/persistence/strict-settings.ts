import { get, set, type UseStore } from 'idb-keyval'

/** Small things that are not part of the database: handles of folders, keys. */
export interface StrictSettings {
  get<T>(key: string): Promise<T | undefined>
  /** Resolves when it is on disk. */
  set(key: string, value: unknown): Promise<void>
}

/** idb-keyval with a store that syncs: by itself it leaves durability to the browser, and a chosen folder should not be asked for twice. */
export function openStrictSettings(name: string, factory: IDBFactory): StrictSettings {
  const useStore = createStrictStore(name, factory)
  return {
    get: (key) => get(key, useStore),
    set: (key, value) => set(key, value, useStore),
  }
}

const STORE = 'settings'

function createStrictStore(name: string, factory: IDBFactory): UseStore {
  const opening = new Promise<IDBDatabase>((resolve, reject) => {
    const request = factory.open(name, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error(`The settings "${name}" cannot be opened.`))
  })
  return async (mode, callback) => {
    const connection = await opening
    // eslint-disable-next-line no-restricted-syntax -- IndexedDB's own transaction, not the store's
    const transaction = connection.transaction([STORE], mode, { durability: 'strict' })
    return callback(transaction.objectStore(STORE))
  }
}
