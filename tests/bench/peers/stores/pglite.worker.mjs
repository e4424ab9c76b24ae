/* global self */
import { PGlite } from '@electric-sql/pglite'
import { serveStore, small } from './serve-store.mjs'

const isOpfs = self.name.endsWith('OPFS')
let database

const TABLES = `
  CREATE TABLE IF NOT EXISTS runs (id SERIAL PRIMARY KEY, status TEXT, note TEXT);
  CREATE INDEX IF NOT EXISTS runs_status ON runs (status);
  CREATE TABLE IF NOT EXISTS bulk (b TEXT);`
/** About a megabyte that does not compress. */
const BULK = `INSERT INTO bulk SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 32500)`

serveStore({
  // It loads itself while it opens.
  load: () => import('@electric-sql/pglite'),
  async open(name) {
    database = await PGlite.create(isOpfs ? `opfs-ahp://${name}` : `idb://${name}`)
    await database.exec(TABLES)
  },
  async fill(megabytes) {
    for (let n = 0; n < megabytes; n += 1) await database.exec(BULK)
  },
  commit: (n) => database.exec(small(n).join(';')),
  first: () => database.query('SELECT count(*) FROM runs'),
  close: () => database.close(),
})
