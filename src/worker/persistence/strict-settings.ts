import { get, set } from 'idb-keyval'
import { createStrictStore } from '../strict-store.ts'

/** Small things that are not part of the database: handles of folders, keys. */
export interface StrictSettings {
  get<T>(key: string): Promise<T | undefined>
  /** Resolves when it is on disk. */
  set(key: string, value: unknown): Promise<void>
}

/** A chosen folder should not be asked for twice, so it is kept in a store that syncs. */
export function openStrictSettings(name: string, factory: IDBFactory): StrictSettings {
  const store = createStrictStore(name, factory)
  return {
    get: (key) => get(key, store),
    set: (key, value) => set(key, value, store),
  }
}
