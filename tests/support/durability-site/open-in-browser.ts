import initSqlJs from 'sql.js'
import wasmUrl from 'sql.js/dist/sql-wasm-browser.wasm?url'
import { loadSqlite, type Sqlite } from '#worker/persistence/load-sqlite.ts'

let loading: Promise<Sqlite> | undefined

export const sqliteInBrowser = (): Promise<Sqlite> =>
  (loading ??= loadSqlite({ initSqlJs, compile: () => WebAssembly.compileStreaming(fetch(wasmUrl)) }))
