import { openDisk } from '#worker/persistence/open-disk.ts'
import { openDurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { checkLedger, commitEntry, createLedger } from '../ledger.ts'
import { dieAtStep, type Strike } from './dying-disk.ts'
import { sqliteInBrowser } from './open-in-browser.ts'

/** What the worker is told: live on this database until the strike, or look what is there. */
export type StepsOrder = { kind: 'live'; name: string; strike: Strike | null } | { kind: 'check'; names: string[] }

export type StepsReport =
  /** From here on nothing more happens: whoever hears this may kill. */
  | { kind: 'dying'; acknowledged: number; step: string }
  | { kind: 'survived'; acknowledged: number; steps: string[] }
  /** How many entries each database has. */
  | { kind: 'checked'; found: number[] }
  | { kind: 'failed'; reason: string }

const say = (report: StepsReport) => postMessage(report)

const smallestLogToFold = 12_000
const ENTRIES = 8
/** More than fit into one write of extents, so that a fold takes several flushes. */
const BULK = 'randomblob(1400000)'

/**
 * Opens, folds, and folds again: only the second time old extents are relied on. So also when it goes on with what an earlier
 * life has left.
 */
async function live({ name, strike }: Extract<StepsOrder, { kind: 'live' }>): Promise<void> {
  let acknowledged = -1
  const disk = openDisk(name, { ripeAfterMs: 0 })
  const steps = dieAtStep(disk, strike, (step) => say({ kind: 'dying', acknowledged, step }))
  const opened = await openDurableDatabase({ disk, sqlite: await sqliteInBrowser(), smallestLogToFold })
  if (!opened.ok) throw new Error(JSON.stringify(opened.error))
  const { database, durability, close } = opened.value
  createLedger(database)
  database.run(`CREATE TABLE IF NOT EXISTS bulk AS SELECT ${BULK} AS b`)
  for (let n = 0; n < ENTRIES; n++) {
    if (n === ENTRIES / 2) database.run(`UPDATE bulk SET b = ${BULK}`)
    const entry = commitEntry(database)
    await durability.barrier()
    acknowledged = entry
  }
  close()
  say({ kind: 'survived', acknowledged, steps })
}

async function check(names: string[]): Promise<void> {
  const found: number[] = []
  for (const name of names) {
    const disk = openDisk(name, { ripeAfterMs: 0 })
    const opened = await openDurableDatabase({ disk, sqlite: await sqliteInBrowser() })
    if (!opened.ok) throw new Error(`${name}: ${JSON.stringify(opened.error)}`)
    found.push(checkLedger(opened.value.database))
    opened.value.close()
  }
  say({ kind: 'checked', found })
}

onmessage = ({ data }: MessageEvent<StepsOrder>) => {
  const done = data.kind === 'live' ? live(data) : check(data.names)
  done.catch((error: unknown) => say({ kind: 'failed', reason: String(error) }))
}
