import { expect, test } from 'vitest'
import type { Tap } from '#worker/persistence/write-tap.ts'
import { openForTest } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../../support/ledger.ts'
import { SimulatedPlatters } from '../../support/simulated-disk.ts'
import { importsForTests, sqliteForTests } from '../../support/sqlite-for-tests.ts'

/** The real tap, whose files can be said to be at fault. */
function breakable(tap: Tap): { tap: Tap; breakIt: () => void } {
  let isBroken = false
  return {
    breakIt: () => {
      isBroken = true
    },
    tap: {
      open(mirror, create) {
        const { database, file } = tap.open(mirror, create)
        return {
          database,
          file: {
            mirror: file.mirror,
            get fault() {
              return isBroken ? 'broken' : file.fault
            },
            set onWrite(listener: (() => void) | null) {
              file.onWrite = listener
            },
          },
        }
      },
      release: () => undefined,
    },
  }
}

test('when the tap misses writes and knows it, everything is saved once more by comparison and nothing is lost', async () => {
  const platters = new SimulatedPlatters()
  const sqlite = await sqliteForTests()
  if (!sqlite.tap) throw new Error('There is no tap.')
  const { tap, breakIt } = breakable(sqlite.tap)
  const first = await openForTest(platters, { sqlite: { ...sqlite, tap } })
  createLedger(first.database)
  for (let n = 0; n < 10; n++) commitEntry(first.database)
  await first.durability.barrier()

  // Deaf from here on: the file changes under the mirror, which shares its memory, and nothing is marked.
  const imports = await importsForTests()
  for (const name of imports.names) imports.watch(name, (_, call) => call())
  for (let n = 0; n < 10; n++) commitEntry(first.database)
  breakIt()
  await first.durability.barrier()
  expect(first.stats().captureKind).toBe('comparison')
  commitEntry(first.database)
  await first.durability.barrier()

  const second = await openForTest(platters, { sqlite: { ...sqlite, tap: null } })
  expect(checkLedger(second.database)).toBe(21)
})
