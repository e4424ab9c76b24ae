import type { Disk } from '#worker/persistence/disk.ts'
import { IndexedDbDisk } from '#worker/persistence/indexed-db-disk.ts'
import { openDisk } from '#worker/persistence/open-disk.ts'
import { openDurableDatabase, type DurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { sqliteInBrowser } from '../../../support/durability-site/open-in-browser.ts'
import { BULK, FIRST, serveStore, small, TABLES } from './serve-store.mjs'

let durable: DurableDatabase
let disk: Disk
let isStrict = false
let onWritten: () => void = () => undefined

const exec = (sql: string): void => void durable.database.exec(sql)

serveStore({
  load: sqliteInBrowser,
  async open(name, durability) {
    isStrict = durability === 'strict'
    // Files are relied on as they are in any installation that is older than two minutes.
    disk = self.name.includes('IndexedDB') ? new IndexedDbDisk(name, indexedDB) : openDisk(name, { ripeAfterMs: 0 })
    const write = disk.write.bind(disk)
    disk.write = async (each) => {
      const result = await write(each)
      if (each.records?.length) onWritten()
      return result
    }
    const opened = await openDurableDatabase({ disk, sqlite: await sqliteInBrowser() })
    if (!opened.ok) throw new Error(JSON.stringify(opened.error))
    durable = opened.value
    for (const sql of TABLES) exec(sql)
  },
  async fill(megabytes) {
    for (let n = 0; n < megabytes; n += 1) exec(BULK)
    // Filling went through the log as well: until it is folded away, as it would be in the long run.
    do {
      exec(small(0).join(';'))
      await durable.durability.barrier()
    } while (durable.stats().logBytes > 4 * 2 ** 20)
  },
  async commit(n) {
    const written = new Promise<void>((resolve) => (onWritten = resolve))
    exec(small(n).join(';'))
    await (isStrict ? durable.durability.barrier() : written)
  },
  first: () => exec(FIRST),
  close: () => {
    durable.close()
    return Promise.resolve()
  },
})
