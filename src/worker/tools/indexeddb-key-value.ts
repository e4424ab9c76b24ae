import { clear, get, keys, update } from 'idb-keyval'
import type { KeyValue } from './key-value.ts'
import { createStrictStore } from '../strict-store.ts'

/** Resolves only when the text is on disk: what the demo world or a file journal has said it has done must stay done. */
export function createIndexedDbKeyValue(databaseName: string, factory: IDBFactory = indexedDB): KeyValue {
  const store = createStrictStore(databaseName, factory)
  return {
    get: (key) => get<string>(key, store),
    update: (key, change) => update<string>(key, change, store),
    keys: () => keys<string>(store),
    clear: () => clear(store),
  }
}
