/* global self */
import * as SQLite from 'wa-sqlite'
import asyncFactory from 'wa-sqlite/dist/wa-sqlite-async.mjs'
import asyncWasm from 'wa-sqlite/dist/wa-sqlite-async.wasm?url'
import syncFactory from 'wa-sqlite/dist/wa-sqlite.mjs'
import syncWasm from 'wa-sqlite/dist/wa-sqlite.wasm?url'
import { AccessHandlePoolVFS } from 'wa-sqlite/src/examples/AccessHandlePoolVFS.js'
import { IDBBatchAtomicVFS } from 'wa-sqlite/src/examples/IDBBatchAtomicVFS.js'
import { BULK, FIRST, serveStore, small, TABLES } from './serve-store.mjs'

const isOpfs = self.name.endsWith('opfs')
let loading
let files
let sqlite
let database

const load = async () => {
  const module = await (isOpfs
    ? syncFactory({ locateFile: () => syncWasm })
    : asyncFactory({ locateFile: () => asyncWasm }))
  sqlite = SQLite.Factory(module)
}
const exec = (sql) => sqlite.exec(database, sql)

serveStore({
  load: () => (loading ??= load()),
  async open(name, durability) {
    await (loading ??= load())
    files = isOpfs ? new AccessHandlePoolVFS(`/${name}`) : new IDBBatchAtomicVFS(name, { durability })
    await files.isReady
    sqlite.vfs_register(files, true)
    database = await sqlite.open_v2(`${name}.sqlite`)
    if (isOpfs) await exec(`PRAGMA synchronous = ${durability === 'strict' ? 'FULL' : 'OFF'}`)
    else if (durability === 'relaxed') await exec('PRAGMA synchronous = NORMAL')
    // Holds the lock and the journal between transactions: it is alone here, as we are.
    await exec('PRAGMA locking_mode = EXCLUSIVE')
    for (const sql of TABLES) await exec(sql)
  },
  async fill(megabytes) {
    for (let n = 0; n < megabytes; n += 1) await exec(BULK)
  },
  commit: (n) => exec(small(n).join(';')),
  first: () => exec(FIRST),
  async close() {
    await sqlite.close(database)
    await files.close?.()
  },
})
