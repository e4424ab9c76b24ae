/* global self */
import sqlite3InitModule from '@sqlite.org/sqlite-wasm'
import { BULK, FIRST, serveStore, small, TABLES } from './serve-store.mjs'

const isWal = self.name.endsWith('WAL')
let loading
let pool
let database

serveStore({
  load: async () => void (await (loading ??= sqlite3InitModule())),
  async open(name, durability) {
    const sqlite3 = await (loading ??= sqlite3InitModule())
    pool = await sqlite3.installOpfsSAHPoolVfs({ name: `pool-${name}`, directory: `/${name}` })
    database = new pool.OpfsSAHPoolDb(`/${name}.sqlite`)
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = ${durability === 'strict' ? 'FULL' : 'OFF'}`)
    if (isWal && database.selectValue('PRAGMA journal_mode = WAL') !== 'wal')
      throw new Error('This build has no WAL on its pool.')
    for (const sql of TABLES) database.exec(sql)
  },
  async fill(megabytes) {
    for (let n = 0; n < megabytes; n += 1) database.exec(BULK)
  },
  commit: (n) => void database.exec(small(n).join(';')),
  first: () => void database.selectValue(FIRST),
  async close() {
    database.close()
    pool.pauseVfs?.()
  },
})
