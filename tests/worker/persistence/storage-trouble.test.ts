import { describe, expect, test } from 'vitest'
import { openDurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { salvage } from '#worker/persistence/read-stored.ts'
import type { StorageState } from '#worker/persistence/storage-state.ts'
import { openBriefly, openForTest, settle } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters } from '../../support/simulated-disk.ts'
import { sqliteForTests } from '../../support/sqlite-for-tests.ts'

const FLUSHES = 25

describe('when storage says no', { timeout: 60_000 }, () => {
  test.each(['full', 'lost', 'superseded'] as const)(
    'a %s storage loses nothing at any flush: work stops, the barrier waits, a retry goes on where it stopped',
    async (kind) => {
      for (let strike = 1; strike <= FLUSHES; strike++) {
        const platters = new SimulatedPlatters()
        const states: StorageState['kind'][] = []
        const { database, durability, disk, timers, image, retry } = await openForTest(platters, {
          smallestLogToFold: 10_000,
          onState: (state) => states.push(state.kind),
        })
        createLedger(database)
        disk.misfortunes.set(disk.steps + strike, kind)
        for (let n = 0; n < FLUSHES; n++) {
          commitEntry(database)
          await settle(20)
        }
        const waiting = durability.barrier()
        await settle()
        expect(states).toEqual([kind])
        expect(durability.isAccepting()).toBe(false)
        const inMemory = new (await sqliteForTests()).sqlJs.Database(image())
        expect(checkLedger(inMemory)).toBe(FLUSHES)
        inMemory.close()

        if (strike % 2) timers.fire()
        else await retry()
        await waiting
        expect(states).toEqual([kind, 'ok'])
        expect(durability.isAccepting()).toBe(true)
        platters.losePower()
        expect(await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))).toBe(FLUSHES)
      }
    },
  )

  test('a quota that stays reached is tried again and again, with nothing lost when room appears', async () => {
    const platters = new SimulatedPlatters()
    const { database, durability, disk, timers } = await openForTest(platters)
    createLedger(database)
    await durability.barrier()
    disk.quotaBytes = platters.storedBytes() + 5000
    for (let n = 0; n < 50; n++) {
      commitEntry(database)
      await settle(4)
    }
    const waiting = durability.barrier()
    for (let attempt = 0; attempt < 5; attempt++) {
      await settle()
      expect(timers.count).toBe(1)
      timers.fire()
    }
    expect(durability.isAccepting()).toBe(false)
    disk.quotaBytes = Infinity
    await settle()
    timers.fire()
    await waiting
    expect(await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))).toBe(50)
  })

  test('what is on disk meanwhile is still a prefix', async () => {
    const platters = new SimulatedPlatters()
    const { database, disk } = await openForTest(platters)
    createLedger(database)
    for (let n = 0; n < 10; n++) commitEntry(database)
    await settle()
    disk.quotaBytes = 0
    for (let n = 0; n < 10; n++) commitEntry(database)
    await settle()
    expect(await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))).toBe(10)
  })

  test('a flush whose answer was lost is sent again without harm', async () => {
    const platters = new SimulatedPlatters()
    const { database, durability, disk, timers } = await openForTest(platters)
    createLedger(database)
    await durability.barrier()
    const write = disk.write.bind(disk)
    disk.write = async (each) => {
      disk.write = write
      await write(each)
      return { ok: false, error: { kind: 'lost', reason: 'the answer did not arrive' } }
    }
    commitEntry(database)
    await settle()
    commitEntry(database)
    timers.fire()
    await durability.barrier()
    expect(await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))).toBe(2)
  })

  test('a connection that closes while nothing is written is noticed at once and comes back', async () => {
    const { durability, disk, timers, storage } = await openForTest(new SimulatedPlatters())
    await durability.barrier()
    disk.onLost?.({ kind: 'lost', reason: 'closed' })
    expect(durability.isAccepting()).toBe(false)
    expect(storage()).toMatchObject({ kind: 'lost', reason: 'closed' })
    timers.fire()
    await settle()
    expect(durability.isAccepting()).toBe(true)
  })

  test('data that is deleted while it is open stays in memory, and nothing half is written in its place', async () => {
    const platters = new SimulatedPlatters()
    const { database, durability, disk, timers, storage, image } = await openForTest(platters)
    createLedger(database)
    for (let n = 0; n < 10; n++) commitEntry(database)
    await durability.barrier()
    platters.contents = new SimulatedPlatters().contents
    disk.onLost?.({ kind: 'lost', reason: 'closed' })
    commitEntry(database)
    void durability.barrier().catch(() => undefined)
    for (let attempt = 0; attempt < 3; attempt++) {
      timers.fire()
      await settle()
      expect(storage()).toMatchObject({ kind: 'deleted', advice: expect.stringContaining('backup') as string })
    }
    expect(durability.isAccepting()).toBe(false)
    expect(platters.contents.records.size).toBe(0)
    const inMemory = new (await sqliteForTests()).sqlJs.Database(image())
    expect(checkLedger(inMemory)).toBe(11)
    inMemory.close()
    expect(await openBriefly(new SimulatedDisk(platters), ({ isNew }) => isNew)).toBe(true)
  })

  test('an owner that was overtaken while it was in trouble is fenced, not revived', async () => {
    const platters = new SimulatedPlatters()
    const old = await openForTest(platters)
    createLedger(old.database)
    old.disk.misfortunes.set(old.disk.steps + 1, 'lost')
    const waiting = old.durability.barrier()
    await settle()
    await openForTest(platters)
    old.timers.fire()
    await expect(waiting).rejects.toThrow()
    expect(old.storage().kind).toBe('fenced')
  })
})

describe('opening', { timeout: 60_000 }, () => {
  const prepared = async () => {
    const platters = new SimulatedPlatters()
    await openBriefly(
      new SimulatedDisk(platters),
      async ({ database, durability }) => {
        createLedger(database)
        database.run('CREATE TABLE bulk (b BLOB)')
        database.run('INSERT INTO bulk VALUES (zeroblob(600000))')
        for (let n = 0; n < 60; n++) {
          commitEntry(database)
          await durability.barrier()
        }
      },
      { smallestLogToFold: 10_000 },
    )
    expect(platters.contents.extents.size).toBeGreaterThan(1)
    expect(platters.contents.records.size).toBeGreaterThan(3)
    return platters
  }

  const refusal = async (platters: SimulatedPlatters, disk = new SimulatedDisk(platters)) => {
    const opened = await openDurableDatabase({ disk, sqlite: await sqliteForTests() })
    if (opened.ok) throw new Error('It opened.')
    return opened.error
  }

  const damages: Record<string, (platters: SimulatedPlatters) => void> = {
    'a gap in the log': ({ contents: { records } }) => {
      records.delete([...records.keys()].at(-2) ?? '')
    },
    'a log that does not begin at its head': ({ contents: { records, state } }) => {
      records.delete(`1/${state?.head ?? 0}`)
    },
    'a flipped bit in a record': ({ contents: { records } }) => {
      const bytes = new Uint8Array([...records.values()].at(-1) ?? new ArrayBuffer(0))
      bytes[40] = (bytes[40] ?? 0) ^ 1
    },
    'a record cut short': ({ contents: { records } }) => {
      const key = [...records.keys()].at(-1) ?? ''
      records.set(key, records.get(key)?.slice(0, -64) ?? new ArrayBuffer(0))
    },
    'a missing extent': ({ contents: { extents } }) => {
      extents.delete('1/0')
    },
    'an extent cut short': ({ contents: { extents } }) => {
      extents.set('1/0', extents.get('1/0')?.slice(0, 4096) ?? new ArrayBuffer(0))
    },
  }

  test.each(Object.entries(damages))(
    '%s is a refusal that changes nothing and still gives out what is there',
    async (_, damage) => {
      const platters = await prepared()
      damage(platters)
      const before = { records: platters.contents.records.size, extents: platters.contents.extents.size }
      const error = await refusal(platters)
      expect(error.kind).toBe('damaged')
      expect(error).toHaveProperty('message', expect.stringMatching(/damaged.*backup/s))
      expect({ records: platters.contents.records.size, extents: platters.contents.extents.size }).toEqual(before)
      const saved = await salvage(new SimulatedDisk(platters))
      expect(saved.ok && saved.value.length).toBeGreaterThan(100_000)
    },
  )

  test('data of a newer version is refused', async () => {
    const platters = await prepared()
    if (platters.contents.state) platters.contents.state.format = 99
    expect((await refusal(platters)).kind).toBe('newer')
  })

  test('a storage that is full when the epoch is to be raised refuses, and what is stored can be read all the same', async () => {
    const platters = await prepared()
    const disk = new SimulatedDisk(platters)
    disk.misfortunes.set(2, 'full')
    expect(await refusal(platters, disk)).toMatchObject({ kind: 'storage', state: { kind: 'full' } })
    const saved = await salvage(disk)
    if (!saved.ok) throw new Error('not readable')
    const copy = new (await sqliteForTests()).sqlJs.Database(saved.value)
    expect(checkLedger(copy)).toBe(60)
    copy.close()
  })
})
