import { describe, expect, test } from 'vitest'
import type { Disk } from '#worker/persistence/disk.ts'
import { openBriefly, settle } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger, ledgerEntries } from '../../support/ledger.ts'
import {
  SimulatedDisk,
  SimulatedPlatters,
  withLogFiles,
  type ConnectDisk,
  type Misfortune,
} from '../../support/simulated-disk.ts'

const smallestLogToFold = 12_000

/** Works until the disk dies or `entries` are written. Returns the last entry that a barrier acknowledged. */
interface Storage {
  platters: SimulatedPlatters
  /** A program's connection to it, and what strikes that. */
  connect: () => { simulated: SimulatedDisk; disk: Disk }
}

const newStorage = (connectDisk: ConnectDisk, platters = new SimulatedPlatters()): Storage => ({
  platters,
  connect: () => {
    const simulated = new SimulatedDisk(platters)
    return { simulated, disk: connectDisk(simulated, platters) }
  },
})

async function work({ simulated, disk }: ReturnType<Storage['connect']>, entries: number): Promise<number> {
  let acknowledged = -1
  const working = openBriefly(
    disk,
    async ({ database, durability }) => {
      createLedger(database)
      // More than one extent, so that a fold takes several flushes.
      database.run('CREATE TABLE IF NOT EXISTS bulk (b BLOB)')
      database.run('INSERT INTO bulk VALUES (zeroblob(100000))')
      while (!simulated.isDead && ledgerEntries(database) < entries) {
        const entry = commitEntry(database)
        if (entry % 3 === 0) {
          await Promise.race([durability.barrier().then(() => (acknowledged = entry)), settle()])
        } else await settle(3)
      }
    },
    { smallestLogToFold },
  ).catch((error: unknown) => {
    if (!simulated.isDead) throw error
  })
  await Promise.race([working, untilDead(simulated)])
  return acknowledged
}

async function untilDead(disk: SimulatedDisk): Promise<void> {
  while (!disk.isDead) await new Promise((resolve) => setImmediate(resolve))
}

const recovered = ({ connect }: Storage) => openBriefly(connect().disk, ({ database }) => checkLedger(database))

const kinds: [string, number, ConnectDisk][] = [
  ['in the database', 60, (simulated) => simulated],
  // A write to a file is several steps, and each of them is struck.
  ['in files', 30, withLogFiles({ fullBytes: 10_000 })],
]

describe.each(kinds)(
  'with the log %s, a program that dies at any step',
  { timeout: 60_000 },
  (where, entries, connectDisk) => {
    async function undisturbed() {
      const storage = newStorage(connectDisk)
      const connected = storage.connect()
      await work(connected, entries)
      return { ...connected, storage }
    }

    test('the workload folds more than once, so that every step of a fold is among those struck', async () => {
      const { simulated, storage } = await undisturbed()
      const heads = simulated.writes.map(({ state }) => state?.head ?? 0)
      expect(new Set(heads.filter((head) => head > 1)).size).toBeGreaterThan(1)
      expect(simulated.writes.some((write) => write.extents)).toBe(true)
      const recordsInDatabase = simulated.writes.filter((write) => write.records?.length).length
      if (where === 'in files') expect(recordsInDatabase).toBeLessThan(3)
      expect(await recovered(storage)).toBe(entries)
    })

    describe.each<Misfortune>(['dies_before', 'dies_after'])('%s', (misfortune) => {
      test.each([false, true])(
        'finds a whole prefix with everything acknowledged; power lost: %s',
        async (isPowerLost) => {
          const { steps } = (await undisturbed()).simulated
          for (let step = 1; step <= steps; step++) {
            const storage = newStorage(connectDisk)
            const connected = storage.connect()
            connected.simulated.misfortunes.set(step, misfortune)
            const acknowledged = await work(connected, entries)
            expect(connected.simulated.isDead).toBe(true)
            if (isPowerLost) storage.platters.losePower()
            expect(await recovered(storage)).toBeGreaterThanOrEqual(acknowledged)
          }
        },
        120_000,
      )
    })

    test('dying again and again while opening changes nothing', async () => {
      const { storage } = await undisturbed()
      for (const misfortune of ['dies_before', 'dies_after'] as const) {
        for (let step = 1; step <= 5; step++) {
          const { simulated, disk } = storage.connect()
          simulated.misfortunes.set(step, misfortune)
          await Promise.race([openBriefly(disk, () => undefined).catch(() => undefined), untilDead(simulated)])
          expect(simulated.isDead).toBe(true)
        }
      }
      expect(await recovered(storage)).toBe(entries)
    })
  },
)

test('a control: extents written by relaxed transactions would not survive a loss of power', async () => {
  const storage = newStorage((simulated) => simulated)
  const connected = storage.connect()
  const write = connected.disk.write.bind(connected.disk)
  connected.disk.write = (each) => write(each.extents ? { ...each, durability: 'relaxed' } : each)
  await work(connected, 60)
  storage.platters.losePower()
  await expect(recovered(storage)).rejects.toThrow('missing')
})
