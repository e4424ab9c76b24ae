import initSqlJs, { type SqlJsStatic } from 'sql.js'
import type { Store } from '#engine/ports/store.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { openDatabase } from '#worker/sqlite/open-database.ts'
import { createSqliteStore } from '#worker/sqlite/store.ts'

let loading: Promise<SqlJsStatic> | undefined

/** The real sql.js. In Node it finds its wasm beside itself; loaded once per test file. */
export function loadSqlJs(): Promise<SqlJsStatic> {
  return (loading ??= initSqlJs())
}

export interface TestStore {
  store: Store
  database: Database
  exportBytes: () => Uint8Array
}

/** The real store, over the given file or an empty one. */
export async function openTestStore(bytes?: Uint8Array): Promise<TestStore> {
  const opened = openDatabase(await loadSqlJs(), bytes)
  if (!opened.ok) throw new Error(opened.error.message)
  const database = opened.value
  return { store: createSqliteStore(database), database, exportBytes: () => database.exportBytes() }
}
