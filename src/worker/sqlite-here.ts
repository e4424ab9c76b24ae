import initSqlJs from 'sql.js'
import sqliteWasmUrl from 'sql.js/dist/sql-wasm-browser.wasm?url'
import { loadSqlite, type Sqlite } from './persistence/load-sqlite.ts'

/** sql.js can be instantiated once per worker, while a worker may lead, lose the lead and lead again. */
let loading: Promise<Sqlite> | undefined

/** This worker's sql.js. A follower asks for it before it needs it: taking over is then a matter of reading the database. */
export const sqliteHere = (): Promise<Sqlite> =>
  (loading ??= loadSqlite({
    initSqlJs,
    compile: () => WebAssembly.compileStreaming(fetch(sqliteWasmUrl)),
  }).catch((error: unknown) => {
    loading = undefined
    throw error
  }))
