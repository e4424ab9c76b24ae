import initSqlJs from '@jlongster/sql.js'
import wasmUrl from '@jlongster/sql.js/dist/sql-wasm.wasm?url'
import { SQLiteFS } from 'absurd-sql'
import IndexedDBBackend from 'absurd-sql/dist/indexeddb-backend.js'
import { BULK, FIRST, serveStore, small, TABLES } from './serve-store.mjs'

let loading
let database

const load = async () => {
  const SQL = await initSqlJs({ locateFile: () => wasmUrl })
  const files = new SQLiteFS(SQL.FS, new IndexedDBBackend())
  SQL.register_for_idb(files)
  SQL.FS.mkdir('/sql')
  SQL.FS.mount(files, {}, '/sql')
  return SQL
}

// As its README recommends: pages of 8 KiB, the journal in memory. IndexedDB's durability is the browser's default, relaxed.
serveStore({
  load: async () => void (await (loading ??= load())),
  async open(name) {
    const SQL = await (loading ??= load())
    database = new SQL.Database(`/sql/${name}.sqlite`, { filename: true })
    database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = MEMORY;')
    for (const sql of TABLES) database.exec(sql)
  },
  async fill(megabytes) {
    for (let n = 0; n < megabytes; n += 1) database.exec(BULK)
  },
  commit: (n) => void database.exec(small(n).join(';')),
  first: () => void database.exec(FIRST),
  close: async () => void database.close(),
})
