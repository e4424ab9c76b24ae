import { describe, expect, test } from 'vitest'
import { openBriefly, settle } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger, ledgerEntries } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters, type Misfortune } from '../../support/simulated-disk.ts'

const smallestLogToFold = 12_000

/** Works until the disk dies or `entries` are written. Returns the last entry that a barrier acknowledged. */
async function work(disk: SimulatedDisk, entries: number): Promise<number> {
  let acknowledged = -1
  const working = openBriefly(
    disk,
    async ({ database, durability }) => {
      createLedger(database)
      // More than one extent, so that a fold takes several flushes.
      database.run('CREATE TABLE IF NOT EXISTS bulk (b BLOB)')
      database.run('INSERT INTO bulk VALUES (zeroblob(100000))')
      while (!disk.isDead && ledgerEntries(database) < entries) {
        const entry = commitEntry(database)
        if (entry % 3 === 0) {
          await Promise.race([durability.barrier().then(() => (acknowledged = entry)), settle()])
        } else await settle(3)
      }
    },
    { smallestLogToFold },
  )
  await Promise.race([working, untilDead(disk)])
  return acknowledged
}

async function untilDead(disk: SimulatedDisk): Promise<void> {
  while (!disk.isDead) await new Promise((resolve) => setImmediate(resolve))
}

const recovered = (platters: SimulatedPlatters) =>
  openBriefly(new SimulatedDisk(platters), ({ database }) => checkLedger(database))

const entries = 60
async function undisturbed() {
  const platters = new SimulatedPlatters()
  const disk = new SimulatedDisk(platters)
  await work(disk, entries)
  return { disk, platters }
}

describe('a program that dies at any step', { timeout: 60_000 }, () => {
  test('the workload folds more than once, so that every step of a fold is among those struck', async () => {
    const { disk, platters } = await undisturbed()
    const moves = disk.writes.filter((write) => write.state && write.state.head > 1)
    expect(moves.length).toBeGreaterThan(1)
    expect(disk.writes.some((write) => write.extents)).toBe(true)
    expect(await recovered(platters)).toBe(entries)
  })

  describe.each<Misfortune>(['dies_before', 'dies_after'])('%s', (misfortune) => {
    test.each([false, true])(
      'finds a whole prefix with everything acknowledged; power lost: %s',
      async (isPowerLost) => {
        const { steps } = (await undisturbed()).disk
        for (let step = 1; step <= steps; step++) {
          const platters = new SimulatedPlatters()
          const disk = new SimulatedDisk(platters)
          disk.misfortunes.set(step, misfortune)
          const acknowledged = await work(disk, entries)
          expect(disk.isDead).toBe(true)
          if (isPowerLost) platters.losePower()
          expect(await recovered(platters)).toBeGreaterThanOrEqual(acknowledged)
        }
      },
      60_000,
    )
  })

  test('dying again and again while opening changes nothing', async () => {
    const { platters } = await undisturbed()
    for (const misfortune of ['dies_before', 'dies_after'] as const) {
      for (let step = 1; step <= 5; step++) {
        const disk = new SimulatedDisk(platters)
        disk.misfortunes.set(step, misfortune)
        await Promise.race([openBriefly(disk, () => undefined), untilDead(disk)])
        expect(disk.isDead).toBe(true)
      }
    }
    expect(await recovered(platters)).toBe(entries)
  })

  test('a control: extents written by relaxed transactions would not survive a loss of power', async () => {
    const platters = new SimulatedPlatters()
    const disk = new SimulatedDisk(platters)
    const write = disk.write.bind(disk)
    disk.write = (each) => write(each.extents ? { ...each, durability: 'relaxed' } : each)
    await work(disk, entries)
    platters.losePower()
    await expect(recovered(platters)).rejects.toThrow('missing')
  })
})
