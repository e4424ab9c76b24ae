import { expose } from 'comlink'
import type { Database } from 'sql.js'
import { openDisk } from '#worker/persistence/open-disk.ts'
import { openDurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { sqliteInBrowser } from './open-in-browser.ts'

type Durability = 'relaxed' | 'strict'

const requestEnd = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(new Error(String(request.error)))
  })

const transactionEnd = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(new Error(String(transaction.error)))
  })

async function openRaw(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1)
  request.onupgradeneeded = () => request.result.createObjectStore('records')
  return requestEnd(request)
}

async function put(raw: IDBDatabase, key: number, value: ArrayBuffer, durability: Durability): Promise<void> {
  const transaction = raw.transaction(['records'], 'readwrite', { durability })
  const done = transactionEnd(transaction)
  transaction.objectStore('records').put(value, key)
  await done
}

const ROW = 'x'.repeat(160)

function fill(database: Database, megabytes: number): void {
  database.run('CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, status TEXT, note TEXT)')
  database.run('CREATE INDEX IF NOT EXISTS runs_status ON runs (status)')
  database.run('CREATE TABLE IF NOT EXISTS bulk (b BLOB)')
  for (let filled = 0; filled < megabytes; filled++) database.run('INSERT INTO bulk VALUES (randomblob(1040000))')
}

function commitSmall(database: Database, n: number): void {
  database.run('BEGIN')
  database.run('INSERT INTO runs (status, note) VALUES (?, ?)', [`active${n % 7}`, ROW])
  database.run('UPDATE runs SET status = ? WHERE id = ?', ['committed', n - 3])
  database.run('COMMIT')
}

/** A durable database of the size asked for whose finished flushes can be waited for. */
async function openFilled(name: string, megabytes: number, smallestLogToFold?: number) {
  const sqlite = await sqliteInBrowser()
  const disk = openDisk(name, { ripeAfterMs: 0 })
  const write = disk.write.bind(disk)
  let onWritten: (() => void) | null = null
  disk.write = async (each) => {
    const result = await write(each)
    if (each.records?.length) onWritten?.()
    return result
  }
  // What nobody waits for is left to gather for a few milliseconds; here it is the writing that is timed.
  const gatherMs = 0
  const opened = await openDurableDatabase({ disk, sqlite, gatherMs, ...(smallestLogToFold && { smallestLogToFold }) })
  if (!opened.ok) throw new Error(JSON.stringify(opened.error))
  fill(opened.value.database, megabytes)
  await opened.value.durability.barrier()
  return {
    ...opened.value,
    written: () => new Promise<void>((resolve) => (onWritten = resolve)),
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

type Opened = Awaited<ReturnType<typeof openFilled>>

/** Filling went through the log as well: commits until it is folded away, as it would be in the long run. */
async function settle(durable: Opened): Promise<void> {
  for (let n = 0; durable.stats().logBytes > 4 * 2 ** 20; n++) {
    commitSmall(durable.database, n)
    await durable.durability.barrier()
  }
}

/** The flush alone: from the end of the commit in memory to the end of the transaction. */
async function timeFlush(durable: Opened, durability: Durability, n: number): Promise<number> {
  const written = durable.written()
  commitSmall(durable.database, n)
  const start = performance.now()
  await (durability === 'strict' ? durable.durability.barrier() : written)
  return performance.now() - start
}

const timeWhole = (durable: Opened, n: number): Promise<number> =>
  timed(() => {
    commitSmall(durable.database, n)
    return durable.durability.barrier()
  })

const remove = (name: string): Promise<unknown> => requestEnd(indexedDB.deleteDatabase(name))

const api = {
  /** Times in turn for every size and for raw puts, so that all meet the same noise. */
  async commits(options: { sizes: number[]; rounds: number }): Promise<Record<string, number[]>> {
    const run = Math.random()
    const raw = await openRaw(`raw-${run}`)
    const databases: [number, Opened][] = []
    for (const size of options.sizes) databases.push([size, await openFilled(`commits-${run}-${size}`, size)])
    for (const [, durable] of databases) await settle(durable)
    const times: Record<string, number[]> = {}
    const note = (name: string, ms: number) => (times[name] ??= []).push(ms)
    for (let n = 0; n < options.rounds; n++) {
      for (const durability of ['relaxed', 'strict'] as const) {
        const value = crypto.getRandomValues(new Uint8Array(4096)).buffer
        note(`raw ${durability}`, await timed(() => put(raw, n, value, durability)))
        for (const [size, durable] of databases) {
          note(`${durability} ${size}`, await timeFlush(durable, durability, n))
        }
      }
      for (const [size, durable] of databases) note(`whole ${size}`, await timeWhole(durable, n))
    }
    for (const [size, durable] of databases) {
      durable.close()
      await remove(`commits-${run}-${size}`)
    }
    raw.close()
    await remove(`raw-${run}`)
    return times
  },

  /** The long run: a log that is folded again and again while commits go on. */
  async folding(options: { megabytes: number; rounds: number; smallestLogToFold: number }) {
    const run = Math.random()
    const raw = await openRaw(`raw-${run}`)
    const durable = await openFilled(`folding-${run}`, options.megabytes, options.smallestLogToFold)
    await settle(durable)
    const before = { ...durable.stats() }
    const times = { raw: [] as number[], durable: [] as number[] }
    for (let n = 0; n < options.rounds; n++) {
      const value = crypto.getRandomValues(new Uint8Array(4096)).buffer
      times.raw.push(await timed(() => put(raw, n, value, 'strict')))
      times.durable.push(await timeFlush(durable, 'strict', n))
    }
    const { folds, recordBytes, extentBytes } = durable.stats()
    const written = recordBytes + extentBytes - before.recordBytes - before.extentBytes
    durable.close()
    raw.close()
    await remove(`folding-${run}`)
    await remove(`raw-${run}`)
    return { times, folds: folds - before.folds, bytesPerCommit: written / options.rounds }
  },

  /** The design that everybody starts with: the whole database in one record. */
  async naive(options: { megabytes: number; rounds: number }): Promise<number[]> {
    const { sqlJs } = await sqliteInBrowser()
    const raw = await openRaw(`naive-${options.megabytes}`)
    const database = new sqlJs.Database()
    fill(database, options.megabytes)
    const times: number[] = []
    for (let n = 0; n < options.rounds; n++) {
      times.push(
        await timed(() => {
          commitSmall(database, n)
          return put(raw, 1, database.export().slice().buffer, 'relaxed')
        }),
      )
    }
    database.close()
    raw.close()
    indexedDB.deleteDatabase(`naive-${options.megabytes}`)
    return times
  },

  /** Leaves a database of that size behind. */
  async prepareCold(megabytes: number): Promise<void> {
    const durable = await openFilled(`cold-${megabytes}`, megabytes)
    await settle(durable)
    durable.close()
  },

  /** Opening to the first answer, beside reading the same pieces and doing nothing with them. */
  async openCold(megabytes: number): Promise<{ openMs: number; rawMs: number; fileBytes: number }> {
    const sqlite = await sqliteInBrowser()
    const reader = openDisk(`cold-${megabytes}`, { ripeAfterMs: 0 })
    await reader.connect()
    const rawMs = await timed(() => reader.readExtents(1, () => undefined))
    reader.close()
    const disk = openDisk(`cold-${megabytes}`, { ripeAfterMs: 0 })
    let fileBytes = 0
    const openMs = await timed(async () => {
      const opened = await openDurableDatabase({ disk, sqlite })
      if (!opened.ok) throw new Error(JSON.stringify(opened.error))
      opened.value.database.exec('SELECT count(*) FROM runs')
      fileBytes = opened.value.stats().fileBytes
      opened.value.close()
    })
    return { openMs, rawMs, fileBytes }
  },

  /** Strict transactions a second with that many tasks waiting for their barrier at once. */
  async groupCommit(options: { tasks: number; commitsEach: number }): Promise<number> {
    const name = `group-${options.tasks}-${Math.random()}`
    const durable = await openFilled(name, 1)
    const start = performance.now()
    let n = 0
    const task = async () => {
      for (let each = 0; each < options.commitsEach; each++) {
        commitSmall(durable.database, n++)
        await durable.durability.barrier()
      }
    }
    await Promise.all(Array.from({ length: options.tasks }, task))
    const perSecond = (n * 1000) / (performance.now() - start)
    durable.close()
    indexedDB.deleteDatabase(name)
    return perSecond
  },

  /** What loading costs: instantiating, finding the calls, proving them. */
  async load(): Promise<number> {
    return timed(sqliteInBrowser)
  },
}
export type BenchApi = typeof api

expose(api)
