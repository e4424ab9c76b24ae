import type { SqlJsStatic } from 'sql.js'
import { capturePragmas } from './capture-pragmas.ts'
import { PAGE_BYTES } from './dirty-lines.ts'
import { FileMirror } from './file-mirror.ts'
import { applyRecord, decodeRecord, encodeChanges } from './log-record.ts'
import type { Tap } from './write-tap.ts'

/** Change counter, schema cookie, version-valid-for and library version: `export()` sets them anew. */
const HEADER_COUNTERS = new Set([24, 25, 26, 27, 40, 41, 42, 43, 92, 93, 94, 95, 96, 97, 98, 99])

const workload = [
  'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX t_a ON t (a)',
  `INSERT INTO t (a, b) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
   SELECT hex(randomblob(20)), randomblob(i * 20) FROM n`,
  'UPDATE t SET a = a || id WHERE id % 3 = 0',
  'BEGIN; DELETE FROM t WHERE id % 2 = 0; ROLLBACK',
  'DELETE FROM t WHERE id > 20',
  'VACUUM',
  'INSERT INTO t (b) VALUES (randomblob(50000))',
]

/** Throws unless replaying the log of what the tap saw gives the file that `export()` gives, after each step. */
export function proveTap(sqlite: SqlJsStatic, tap: Tap, emptyImage: Uint8Array): void {
  const mirror = new FileMirror()
  mirror.load(0, emptyImage)
  const replayed = new FileMirror()
  replayed.load(0, emptyImage)
  const { database, file } = tap.open(mirror, (bytes) => new sqlite.Database(bytes))
  try {
    database.run(capturePragmas)
    for (const sql of workload) {
      database.run(sql)
      for (const chunk of encodeChanges(mirror, { sequence: 0, epoch: 0 })) {
        const record = decodeRecord(chunk.bytes)
        if ('fault' in record) throw new Error(`A record does not survive encoding: ${record.fault}.`)
        applyRecord(record, replayed)
      }
      if (file.fault !== null) throw new Error(file.fault)
      if (!isSameFile(replayed.view(), database.export())) {
        throw new Error(`The captured writes do not add up to the database after: ${sql.slice(0, 40)}`)
      }
    }
  } finally {
    database.close()
    tap.release(file)
  }
}

/** The same database, header counters and the leftovers in free pages aside: SQLite does not write what nobody will read. */
export function isSameFile(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  const free = freePages(other)
  for (let at = 0; at < one.length; at++) {
    if (one[at] === other[at] || HEADER_COUNTERS.has(at) || free.has(Math.floor(at / PAGE_BYTES))) continue
    return false
  }
  return true
}

/** The leaves of the free list, counted from 0: https://sqlite.org/fileformat.html#the_freelist */
function freePages(image: Uint8Array): Set<number> {
  const words = new DataView(image.buffer, image.byteOffset, image.byteLength)
  const free = new Set<number>()
  for (let trunk = words.getUint32(32); trunk !== 0; trunk = words.getUint32((trunk - 1) * PAGE_BYTES)) {
    const start = (trunk - 1) * PAGE_BYTES
    const leaves = words.getUint32(start + 4)
    for (let leaf = 0; leaf < leaves; leaf++) free.add(words.getUint32(start + 8 + leaf * 4) - 1)
  }
  return free
}
