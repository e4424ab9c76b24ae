import fc from 'fast-check'
import { expect } from 'vitest'
import { openBriefly, settle } from './durable.ts'
import { checkLedger, commitEntry, createLedger, ledgerEntries } from './ledger.ts'
import { SimulatedDisk, SimulatedPlatters, withLogFiles, type ConnectDisk, type Misfortune } from './simulated-disk.ts'

const action = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('commit' as const), times: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'barrier' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), turns: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('grow' as const), bytes: fc.integer({ min: 1, max: 400_000 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'shrink' as const }) },
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

const life = fc.record({
  actions: fc.array(action, { maxLength: 25 }),
  strikeAt: fc.integer({ min: 1, max: 60 }),
  strike: fc.constantFrom<Misfortune>('dies_before', 'dies_after', 'full', 'lost'),
  isPowerLost: fc.boolean(),
  /** Files that were made a moment ago are not relied on: then the log goes on in the database. */
  areFilesRipe: fc.boolean(),
  /** Afterwards the browser throws its database away. */
  isDatabaseLost: fc.boolean(),
})
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never

export const inDatabase = (): ConnectDisk => (simulated) => simulated
export const inFiles = ({ areFilesRipe }: Pick<Life, 'areFilesRipe'>): ConnectDisk =>
  withLogFiles({ ripeAfterMs: areFilesRipe ? 0 : 1 })

async function live(
  platters: SimulatedPlatters,
  { actions, strikeAt, strike }: { actions: Action[]; strikeAt: number; strike: Misfortune },
  connect: ConnectDisk,
) {
  const disk = new SimulatedDisk(platters)
  disk.misfortunes.set(strikeAt, strike)
  const seen = { acknowledged: -1, committed: -1 }
  const living = openBriefly(
    connect(disk, platters),
    async (opened) => {
      const { database, durability } = opened
      createLedger(database)
      database.run('CREATE TABLE IF NOT EXISTS bulk (b BLOB)')
      seen.committed = ledgerEntries(database)
      for (const each of actions) {
        if (disk.isDead) return
        if (each.kind === 'commit') for (let n = 0; n < each.times; n++) seen.committed = commitEntry(database)
        else if (each.kind === 'wait') await settle(each.turns)
        else if (each.kind === 'grow') database.run('INSERT INTO bulk VALUES (randomblob(?))', [each.bytes])
        else if (each.kind === 'shrink') database.run('DELETE FROM bulk; VACUUM')
        else {
          const entries = ledgerEntries(database)
          void durability.barrier().then(
            () => (seen.acknowledged = Math.max(seen.acknowledged, entries)),
            () => undefined,
          )
          await settle(40)
        }
        if (opened.storage().kind !== 'ok') await opened.retry()
      }
    },
    { smallestLogToFold: 20_000 },
  ).catch((error: unknown) => {
    if (!String(error).includes('refused')) throw error
  })
  const dead = (async () => {
    while (!disk.isDead) await new Promise((resolve) => setImmediate(resolve))
  })()
  await Promise.race([living, dead])
  return seen
}

/**
 * Whatever happens in several lives, what is found is a prefix of what was committed with all that was acknowledged. Where a
 * database that the browser has thrown away cannot be put together again, that is told: opening is refused.
 */
export async function checkRecovery(
  numRuns: number,
  disksOf: (life: Life) => ConnectDisk,
  { mayLoseDatabase = false } = {},
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      const platters = new SimulatedPlatters()
      let least = -1
      for (const each of lives) {
        // A storage that refuses to write files and loses its database as well has no promise.
        const strike = mayLoseDatabase && each.strike !== 'dies_after' ? 'dies_before' : each.strike
        const { acknowledged, committed } = await live(platters, { ...each, strike }, disksOf(each))
        if (each.isPowerLost) platters.losePower()
        least = Math.max(least, acknowledged)
        const isLost = mayLoseDatabase && each.isDatabaseLost
        if (isLost) platters.loseDatabase()
        const reader = disksOf({ ...each, areFilesRipe: true })(new SimulatedDisk(platters), platters)
        const found = await openBriefly(reader, ({ database }) => checkLedger(database)).catch((error: unknown) => {
          if (isLost && String(error).includes('damaged')) return 'told'
          throw error
        })
        if (typeof found === 'string') return
        expect(found).toBeGreaterThanOrEqual(least)
        expect(found).toBeLessThanOrEqual(Math.max(committed, least))
        least = Math.max(least, found)
      }
    }),
    { numRuns },
  )
}
