import { describe, expect, test } from 'vitest'
import { openBriefly, openForTest, settle } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters, type Misfortune } from '../../support/simulated-disk.ts'

const OLD = 30
const NEW = 7

async function ledgerImage(entries: number, extraBytes = 0): Promise<Uint8Array> {
  const { database, image, close } = await openForTest(new SimulatedPlatters())
  createLedger(database)
  for (let n = 0; n < entries; n++) commitEntry(database)
  if (extraBytes > 0) database.run(`CREATE TABLE bulk AS SELECT randomblob(${extraBytes}) AS b`)
  const bytes = image()
  close()
  return bytes
}

async function platterWithOld(): Promise<SimulatedPlatters> {
  const platters = new SimulatedPlatters()
  const { database, durability, close } = await openForTest(platters)
  createLedger(database)
  for (let n = 0; n < OLD; n++) commitEntry(database)
  await durability.barrier()
  close()
  return platters
}

const entriesOn = (platters: SimulatedPlatters) =>
  openBriefly(new SimulatedDisk(platters), ({ database }) => checkLedger(database))

const generationsOn = ({ contents }: SimulatedPlatters) =>
  new Set([...contents.extents.keys(), ...contents.records.keys()].map((key) => key.split('/')[0])).size

describe('putting another database in place', { timeout: 60_000 }, () => {
  test('replaces it, and undoing brings the old one back with everything', async () => {
    const platters = await platterWithOld()
    const first = await openForTest(platters, { now: () => 42 })
    expect(first.replacedAt()).toBeNull()
    expect(await first.replaceWith(await ledgerImage(NEW))).toEqual({ ok: true, value: undefined })
    await expect(first.durability.barrier()).rejects.toThrow('closed')

    const second = await openForTest(platters)
    expect(checkLedger(second.database)).toBe(NEW)
    expect(second.replacedAt()).toBe(42)
    commitEntry(second.database)
    expect(await second.undoReplace()).toMatchObject({ ok: true })
    expect(await entriesOn(platters)).toBe(OLD)

    const third = await openForTest(platters)
    commitEntry(third.database)
    expect(await third.undoReplace()).toMatchObject({ ok: true })
    expect(await entriesOn(platters)).toBe(NEW + 1)
  })

  test('what was replaced can be forgotten, and its room is free again', async () => {
    const platters = await platterWithOld()
    await (await openForTest(platters)).replaceWith(await ledgerImage(NEW))
    const opened = await openForTest(platters)
    commitEntry(opened.database)
    expect(generationsOn(platters)).toBe(2)
    await opened.forgetReplaced()
    expect(generationsOn(platters)).toBe(1)
    expect(opened.replacedAt()).toBeNull()
    expect(await opened.undoReplace()).toMatchObject({ ok: false })
    expect(await entriesOn(platters)).toBe(NEW + 1)
  })

  test('forgetting what was replaced makes room in a full storage at once, and nothing is lost', async () => {
    const platters = await platterWithOld()
    await (await openForTest(platters)).replaceWith(await ledgerImage(NEW))
    const opened = await openForTest(platters, { smallestLogToFold: 3000 })
    const { disk, database, durability, forgetReplaced, storage } = opened
    // Room for the log, not for the pieces that the first fold wants to write along with it.
    disk.quotaBytes = platters.storedBytes() + 100_000
    while (durability.isAccepting()) {
      commitEntry(database)
      await settle()
    }
    expect(storage().kind).toBe('full')
    const entries = commitEntry(database)
    disk.quotaBytes = Infinity
    disk.writes.length = 0
    await forgetReplaced()
    expect(storage().kind).toBe('ok')
    expect(generationsOn(platters)).toBe(1)
    const [dropping, sentAgain] = disk.writes
    expect(dropping?.dropGenerations).toHaveLength(1)
    expect(sentAgain?.records?.length).toBeGreaterThan(0)
    // What is sent again is older than the file by now.
    expect(sentAgain?.extents).toBeUndefined()
    expect(await entriesOn(platters)).toBe(entries)
  })

  test('only the last replacement is kept', async () => {
    const platters = await platterWithOld()
    for (const entries of [3, 4, 5]) await (await openForTest(platters)).replaceWith(await ledgerImage(entries))
    expect(generationsOn(platters)).toBe(2)
    expect(await entriesOn(platters)).toBe(5)
    await (await openForTest(platters)).undoReplace()
    expect(await entriesOn(platters)).toBe(4)
  })

  test.each<Misfortune>(['dies_before', 'dies_after', 'full', 'lost'])(
    'whatever happens at any step (%s), afterwards it is wholly the old one or wholly the new one, and trying again works',
    async (misfortune) => {
      const image = await ledgerImage(NEW, 3_000_000)
      const undisturbed = new SimulatedDisk(await platterWithOld())
      const steps = await openBriefly(undisturbed, async ({ replaceWith }) => {
        const before = undisturbed.steps
        await replaceWith(image)
        return undisturbed.steps - before
      })
      expect(steps).toBeGreaterThan(4)
      const seen = new Set<number>()
      for (let step = 1; step <= steps; step++) {
        const platters = await platterWithOld()
        const { disk, replaceWith } = await openForTest(platters)
        disk.misfortunes.set(disk.steps + step, misfortune)
        await Promise.race([replaceWith(image), new Promise((resolve) => setTimeout(resolve, 20))])
        platters.losePower()
        const found = await entriesOn(platters)
        expect([OLD, NEW]).toContain(found)
        seen.add(found)
        await (await openForTest(platters)).replaceWith(image)
        expect(await entriesOn(platters)).toBe(NEW)
        expect(generationsOn(platters)).toBe(2)
      }
      expect(seen.has(OLD)).toBe(true)
    },
    60_000,
  )

  test('what an attempt that died left behind is cleared by the next one', async () => {
    const platters = await platterWithOld()
    const { disk, replaceWith } = await openForTest(platters)
    disk.misfortunes.set(disk.steps + 5, 'dies_after')
    await Promise.race([
      replaceWith(await ledgerImage(NEW, 3_000_000)),
      new Promise((resolve) => setTimeout(resolve, 20)),
    ])
    expect(platters.contents.extents.size).toBeGreaterThan(1)
    await (await openForTest(platters)).replaceWith(await ledgerImage(NEW))
    expect(platters.contents.extents.size).toBe(1)
  })

  test('it is refused while storage is in trouble: what is only in memory must not be lost', async () => {
    const platters = await platterWithOld()
    const { disk, database, durability, replaceWith } = await openForTest(platters)
    disk.quotaBytes = 0
    commitEntry(database)
    void durability.barrier().catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve))
    expect(await replaceWith(await ledgerImage(NEW))).toMatchObject({ ok: false, error: { kind: 'full' } })
    expect(durability.isAccepting()).toBe(false)
  })
})
