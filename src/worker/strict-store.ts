import { promisifyRequest, type UseStore } from 'idb-keyval'

const STORE = 'entries'

/** For idb-keyval, whose own stores commit with relaxed durability and cannot be told otherwise. */
export function createStrictStore(databaseName: string, factory: IDBFactory): UseStore {
  let opening: Promise<IDBDatabase> | undefined
  const open = async (): Promise<IDBDatabase> => {
    const request = factory.open(databaseName)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    const database = await promisifyRequest(request)
    // The browser may close it at any time; the next use opens it again.
    database.onclose = () => (opening = undefined)
    database.onversionchange = () => {
      database.close()
      opening = undefined
    }
    return database
  }
  return async (mode, callback) => {
    opening ??= open()
    // A failed opening must not be remembered: the next use tries again.
    const database = await opening.catch((error: unknown) => {
      opening = undefined
      throw error
    })
    // eslint-disable-next-line no-restricted-syntax -- a transaction of IndexedDB, not of the engine's database
    return callback(database.transaction(STORE, mode, { durability: 'strict' }).objectStore(STORE))
  }
}
