import { describe, expect, test } from 'vitest'
import { openBriefly, openForTest, settle, type OpenedForTest } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters } from '../../support/simulated-disk.ts'

/** Commits until `isReached`, one flush each. */
async function commitUntil({ database, durability }: OpenedForTest, isReached: () => boolean): Promise<void> {
  for (let n = 0; !isReached(); n++) {
    if (n > 500) throw new Error('It does not happen.')
    commitEntry(database)
    await durability.barrier()
  }
}

const openLarge = async (platters: SimulatedPlatters, bytes = 3_000_000) => {
  const opened = await openForTest(platters, { smallestLogToFold: 20_000 })
  opened.database.run('CREATE TABLE bulk (b BLOB)')
  opened.database.run(`INSERT INTO bulk VALUES (zeroblob(${bytes}))`)
  // Behind the rest: its extents are the last to be rewritten.
  createLedger(opened.database)
  return opened
}

describe('folding', { timeout: 30_000 }, () => {
  test('waits until the log is longer than a quarter of the file', async () => {
    const platters = new SimulatedPlatters()
    const opened = await openLarge(platters)
    await commitUntil(opened, () => opened.stats().folds === 1)
    const { fileBytes } = opened.stats()
    opened.disk.writes.length = 0
    await commitUntil(opened, () => opened.disk.writes.some(({ extents }) => extents))
    const bytes = opened.disk.writes
      .flatMap(({ records }) => records ?? [])
      .reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    expect(bytes).toBeGreaterThan(fileBytes / 5)
  })

  test('rewrites at most one MiB with a flush, and the second time only what has changed since', async () => {
    const platters = new SimulatedPlatters()
    const opened = await openLarge(platters)
    await commitUntil(opened, () => opened.stats().folds === 1)
    const first = opened.disk.writes.flatMap(({ extents }) => extents ?? []).length
    for (const { extents } of opened.disk.writes) expect(extents?.length ?? 0).toBeLessThanOrEqual(4)
    opened.disk.writes.length = 0
    await commitUntil(opened, () => opened.stats().folds === 2)
    const second = opened.disk.writes.flatMap(({ extents }) => extents ?? []).length
    expect(first).toBeGreaterThan(8)
    expect(second).toBeLessThan(5)
  })

  test('leaves no old records behind', async () => {
    const platters = new SimulatedPlatters()
    const opened = await openLarge(platters)
    await commitUntil(opened, () => opened.stats().folds === 2)
    await commitUntil(
      opened,
      () =>
        opened.disk.writes.at(-1)?.dropRecordsBefore === undefined && opened.disk.writes.at(-1)?.state === undefined,
    )
    const { head } = platters.contents.state ?? { head: 0 }
    expect(head).toBeGreaterThan(1)
    const sequences = [...platters.contents.records.keys()].map((key) => Number(key.split('/')[1]))
    expect(Math.min(...sequences)).toBeGreaterThanOrEqual(head)
  })

  test('what is sent again after trouble carries no extents: they would be ahead of the log', async () => {
    const commitOnce = async ({ database, durability }: OpenedForTest) => {
      commitEntry(database)
      await Promise.race([durability.barrier().catch(() => undefined), settle()])
      await settle(5)
    }
    const pilot = await openLarge(new SimulatedPlatters(), 300_000)
    // The extents of a first fold are not relied on yet when it is cut short: the second fold is the one that matters.
    let carriesExtents = 0
    const write = pilot.disk.write.bind(pilot.disk)
    pilot.disk.write = (each) => {
      const writing = write(each)
      if (each.extents && pilot.stats().folds === 1 && carriesExtents === 0) carriesExtents = pilot.disk.steps
      return writing
    }
    await commitUntil(pilot, () => carriesExtents > 0)

    const platters = new SimulatedPlatters()
    const opened = await openLarge(platters, 300_000)
    opened.disk.misfortunes.set(carriesExtents, 'lost')
    for (let n = 0; n < 500 && opened.durability.isAccepting(); n++) await commitOnce(opened)
    expect(opened.durability.isAccepting()).toBe(false)
    expect(opened.stats().folds).toBe(1)
    for (let n = 0; n < 20; n++) commitEntry(opened.database)
    // Connecting is the first step of the retry, looking for the owner the second, sending again the third.
    opened.disk.misfortunes.set(opened.disk.steps + 3, 'dies_after')
    void opened.retry()
    await settle()
    expect(opened.disk.isDead).toBe(true)
    const sentAgain = opened.disk.writes.at(-1)
    expect(sentAgain?.records?.length).toBeGreaterThan(0)
    expect(sentAgain?.extents).toBeUndefined()
    const found = await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))
    expect(found).toBeGreaterThan(0)
  })

  test('a storage that is full is not asked to take extents before it has taken the log', async () => {
    const platters = new SimulatedPlatters()
    const opened = await openLarge(platters)
    await commitUntil(opened, () => opened.disk.writes.some(({ extents }) => extents))
    opened.disk.onLost?.({ kind: 'full', reason: 'no room' })
    opened.disk.writes.length = 0
    commitEntry(opened.database)
    void opened.retry()
    await opened.durability.barrier()
    expect(opened.disk.writes[0]?.extents).toBeUndefined()
    await commitUntil(opened, () => opened.stats().folds === 1)
    expect(await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))).toBeGreaterThan(0)
  })

  test('a file that got shorter in memory while the head moves is still as long as the log says', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const platters = new SimulatedPlatters()
      const opened = await openLarge(platters)
      const { disk, database } = opened
      await commitUntil(opened, () => disk.writes.some(({ extents }) => extents))
      while (!disk.writes.some(({ state }) => (state?.head ?? 0) > 1)) {
        commitEntry(database)
        await settle(turns)
        if (opened.stats().flushes % 4 === 0) {
          database.run('DELETE FROM bulk; VACUUM')
          disk.misfortunes.set(disk.steps + 2, 'dies_before')
          break
        }
      }
      await settle()
      const found = await openBriefly(new SimulatedDisk(platters), (after) => checkLedger(after.database))
      expect(found).toBeGreaterThan(0)
    }
  })
})
