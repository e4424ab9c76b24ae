import { describe, expect, test } from 'vitest'
import { Fenced } from '#worker/persistence/flusher.ts'
import { MAX_RECORD_BYTES } from '#worker/persistence/log-record.ts'
import { openForTest, settle } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger, ledgerEntries } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters } from '../../support/simulated-disk.ts'
import { sqliteForTests, untappedSqliteForTests } from '../../support/sqlite-for-tests.ts'

describe.each([
  ['changes seen by the tap', sqliteForTests],
  ['changes found by comparison', untappedSqliteForTests],
])('a durable database, %s', (_, load) => {
  test('holds after reopening exactly what was committed before the barrier', async () => {
    const platters = new SimulatedPlatters()
    const first = await openForTest(platters, { sqlite: await load() })
    expect(first.isNew).toBe(true)
    createLedger(first.database)
    for (let n = 0; n < 120; n++) commitEntry(first.database)
    await first.durability.barrier()
    first.database.run("BEGIN; INSERT INTO ledger VALUES (9999, 'never committed')")
    first.close()
    platters.losePower()

    const second = await openForTest(platters, { sqlite: await load() })
    expect(second.isNew).toBe(false)
    expect(checkLedger(second.database)).toBe(120)
    expect(second.epoch).toBe(first.epoch + 1)
  })

  test('needs no word from the caller: the barrier finds what was committed', async () => {
    const platters = new SimulatedPlatters()
    const first = await openForTest(platters, { sqlite: await load() })
    createLedger(first.database)
    first.database.run('PRAGMA user_version = 7')
    await first.durability.barrier()
    const second = await openForTest(platters, { sqlite: await load() })
    expect(second.database.exec('PRAGMA user_version')[0]?.values[0]?.[0]).toBe(7)
  })

  test('survives VACUUM, which shortens the file, and goes on', async () => {
    const platters = new SimulatedPlatters()
    const first = await openForTest(platters, { sqlite: await load() })
    createLedger(first.database)
    first.database.run('CREATE TABLE bulk (b BLOB)')
    first.database.run('INSERT INTO bulk VALUES (randomblob(2000000))')
    commitEntry(first.database)
    await first.durability.barrier()
    first.database.run('DROP TABLE bulk')
    first.database.run('VACUUM')
    commitEntry(first.database)
    first.noteCommit()
    await first.durability.barrier()
    expect(first.stats().fileBytes).toBeLessThan(100_000)

    const second = await openForTest(platters, { sqlite: await load() })
    expect(checkLedger(second.database)).toBe(2)
    expect(second.image().length).toBe(first.image().length)
  })

  test('gives its image as a SQLite file that stands by itself', async () => {
    const sqlite = await load()
    const opened = await openForTest(new SimulatedPlatters(), { sqlite })
    createLedger(opened.database)
    for (let n = 0; n < 10; n++) commitEntry(opened.database)
    const copy = new sqlite.sqlJs.Database(opened.image())
    expect(checkLedger(copy)).toBe(10)
    copy.close()
  })
})

describe('group commit', () => {
  test('a commit goes to the disk by itself, relaxed', async () => {
    const { database, disk } = await openForTest(new SimulatedPlatters())
    createLedger(database)
    await settle()
    expect(disk.writes.length).toBeGreaterThan(0)
    disk.writes.length = 0
    commitEntry(database)
    await settle()
    expect(disk.writes.map((write) => write.durability)).toEqual(['relaxed'])
  })

  test('commits right after a write gather, until a barrier takes them along or their time has come', async () => {
    let now = 0
    const { database, durability, disk, timers } = await openForTest(new SimulatedPlatters(), {
      gatherMs: 4,
      now: () => now,
    })
    createLedger(database)
    await durability.barrier()
    disk.writes.length = 0
    commitEntry(database)
    commitEntry(database)
    await settle()
    expect(disk.writes).toEqual([])
    await durability.barrier()
    expect(disk.writes.map((write) => write.durability)).toEqual(['strict'])
    commitEntry(database)
    await settle()
    expect(disk.writes).toHaveLength(1)
    now = 4
    timers.fire()
    await settle()
    expect(disk.writes.map((write) => write.durability)).toEqual(['strict', 'relaxed'])
  })

  test('an outcome is synced at once, or with the next barrier when a write has only just ended', async () => {
    let now = 0
    const { database, durability, disk, timers } = await openForTest(new SimulatedPlatters(), {
      gatherMs: 4,
      now: () => now,
    })
    createLedger(database)
    await durability.barrier()
    now = 10
    const writesOf = async (work: () => void | Promise<void>): Promise<string[]> => {
      disk.writes.length = 0
      commitEntry(database)
      durability.flushSoon()
      await work()
      await settle()
      return disk.writes.map((write) => write.durability)
    }
    const wait = (): void => {
      now += 4
      timers.fire()
    }
    expect(await writesOf(() => undefined)).toEqual(['strict'])
    expect(await writesOf(() => undefined)).toEqual([])
    expect(await writesOf(() => durability.barrier())).toEqual(['strict'])
    expect(await writesOf(wait)).toEqual(['strict'])
  })

  test('a commit and its barrier are one strict transaction', async () => {
    const { database, durability, disk } = await openForTest(new SimulatedPlatters())
    createLedger(database)
    await durability.barrier()
    disk.writes.length = 0
    commitEntry(database)
    await durability.barrier()
    expect(disk.writes.map((write) => write.durability)).toEqual(['strict'])
  })

  test('what is committed while a flush is under way goes out together in the next one', async () => {
    const { database, durability, disk } = await openForTest(new SimulatedPlatters())
    createLedger(database)
    await durability.barrier()
    disk.writes.length = 0
    commitEntry(database)
    const barriers = [durability.barrier()]
    await Promise.resolve()
    for (let n = 0; n < 50; n++) {
      commitEntry(database)
      barriers.push(durability.barrier())
    }
    await Promise.all(barriers)
    expect(disk.writes.length).toBe(2)
  })

  test('there are never two transactions under way', async () => {
    const { database, durability, disk } = await openForTest(new SimulatedPlatters(), { smallestLogToFold: 20_000 })
    createLedger(database)
    for (let n = 0; n < 200; n++) {
      commitEntry(database)
      if (n % 3 === 0) void durability.barrier()
      if (n % 5 === 0) durability.flushSoon()
      if (n % 2 === 0) await Promise.resolve()
    }
    await durability.barrier()
    expect(disk.mostWritesUnderWay).toBe(1)
  })

  test('a barrier makes durable what relaxed flushes wrote before it', async () => {
    const platters = new SimulatedPlatters()
    const { database, durability } = await openForTest(platters)
    createLedger(database)
    commitEntry(database)
    await settle()
    await durability.barrier()
    platters.losePower()
    const after = await openForTest(platters)
    expect(ledgerEntries(after.database)).toBe(1)
  })

  test('a small commit writes a small record however large the file is', async () => {
    const { database, durability, disk } = await openForTest(new SimulatedPlatters())
    createLedger(database)
    database.run('CREATE TABLE bulk (b BLOB)')
    database.run('INSERT INTO bulk VALUES (randomblob(8000000))')
    await durability.barrier()
    disk.writes.length = 0
    commitEntry(database)
    await durability.barrier()
    const bytes = (disk.writes[0]?.records ?? []).reduce((sum, record) => sum + record.bytes.byteLength, 0)
    expect(bytes).toBeLessThan(4096)
  })

  test('a large commit is split into records that IndexedDB keeps in its log, in one transaction', async () => {
    const { database, durability, disk } = await openForTest(new SimulatedPlatters())
    database.run('CREATE TABLE bulk (b BLOB)')
    await durability.barrier()
    disk.writes.length = 0
    database.run('INSERT INTO bulk VALUES (randomblob(3000000))')
    await durability.barrier()
    expect(disk.writes.length).toBe(1)
    const records = disk.writes[0]?.records ?? []
    expect(records.length).toBeGreaterThan(40)
    for (const { bytes } of records) expect(bytes.byteLength).toBeLessThanOrEqual(MAX_RECORD_BYTES)
  })

  test('a transaction that is rolled back leaves nothing to write', async () => {
    const { database, durability, disk } = await openForTest(new SimulatedPlatters())
    createLedger(database)
    await durability.barrier()
    disk.writes.length = 0
    database.run("BEGIN; INSERT INTO ledger VALUES (1, 'x'); ROLLBACK")
    await settle()
    expect(disk.writes).toEqual([])
  })
})

describe('ownership', () => {
  test('whoever was overtaken writes nothing more, and its barrier says so', async () => {
    const platters = new SimulatedPlatters()
    const old = await openForTest(platters)
    createLedger(old.database)
    commitEntry(old.database)
    await old.durability.barrier()
    const successor = await openForTest(platters)
    commitEntry(successor.database)
    await successor.durability.barrier()

    for (let n = 0; n < 10; n++) commitEntry(old.database)
    await expect(old.durability.barrier()).rejects.toBeInstanceOf(Fenced)
    expect(old.durability.isAccepting()).toBe(false)
    expect(old.storage().kind).toBe('fenced')
    await expect(old.durability.barrier()).rejects.toThrow()
    const third = await openForTest(platters)
    expect(checkLedger(third.database)).toBe(2)
  })

  test('a barrier notices the new owner even when there is nothing to write', async () => {
    const platters = new SimulatedPlatters()
    const old = await openForTest(platters)
    await old.durability.barrier()
    await openForTest(platters)
    await expect(old.durability.barrier()).rejects.toThrow()
  })

  test('a flush that the old owner managed before the new one opened is seen by the new one', async () => {
    const platters = new SimulatedPlatters()
    const old = await openForTest(platters)
    createLedger(old.database)
    commitEntry(old.database)
    const late = old.durability.barrier()
    const successor = await openForTest(platters)
    const wasWritten = await late.then(
      () => true,
      () => false,
    )
    expect(checkLedger(successor.database)).toBe(wasWritten ? 1 : -1)
  })
})

test('closing tells whoever waits', async () => {
  const disk = new SimulatedDisk(new SimulatedPlatters())
  const opened = await openForTest(new SimulatedPlatters(), { disk })
  disk.misfortunes.set(disk.steps + 1, 'lost')
  const waiting = opened.durability.barrier()
  await settle()
  opened.close()
  await expect(waiting).rejects.toThrow('closed')
})
