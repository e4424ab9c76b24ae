import type { Strike } from './durability-site/dying-disk.ts'
import type {} from './durability-site/site.ts'
import type { StepsOrder, StepsReport } from './durability-site/steps.worker.ts'

/** Everything that opening and a fold ask of the disk: each must be among what is struck. */
const KINDS = [
  'connect',
  'claim',
  'readState',
  'readExtents',
  'readRecords',
  'write the first state',
  'write records',
  'write extents',
  'write the head',
  'drop records',
]

export interface StepsReportOfAll {
  /** Kinds of steps that were never struck. */
  spared: string[]
  strikes: number
  /** Deaths after which something acknowledged was missing, or more was there than could be. */
  losses: string[]
}

export interface Victim {
  /** Carries the order out and kills as soon as it says that it is dying. */
  strike: (order: StepsOrder) => Promise<StepsReport>
  /** Carries the order out to its end. */
  ask: (order: StepsOrder) => Promise<StepsReport>
}

interface Death {
  name: string
  strike: Strike
  acknowledged: number
  /** One more than was acknowledged may be there: a flush that was on its way. */
  most: number
}

/** Dies once at every step of opening and folding a new database and of opening and folding one that is there. */
export async function dieAtEveryStep(victim: Victim, manners: Strike['manner'][]): Promise<StepsReportOfAll> {
  const report: StepsReportOfAll = { spared: [], strikes: 0, losses: [] }
  const pilot = await survive(victim, 'pilot')
  const again = await survive(victim, 'pilot')
  const struck = new Set<string>()
  const deaths: Death[] = []
  for (const manner of manners) {
    for (let step = 1; step <= pilot.steps.length; step++) {
      deaths.push(await die(victim, `new ${manner} ${step}`, { step, manner }, struck))
    }
    // The same database each time: it dies while it opens and folds, again and again.
    for (let step = 1; step <= again.steps.length; step++) {
      const death = await die(victim, `old ${manner}`, { step, manner }, struck)
      await settle(victim, [death], report)
    }
  }
  await settle(victim, deaths, report)
  report.strikes = manners.length * (pilot.steps.length + again.steps.length)
  report.spared = KINDS.filter((kind) => !struck.has(kind))
  return report
}

async function survive(victim: Victim, name: string) {
  const end = await victim.ask({ kind: 'live', name, strike: null })
  if (end.kind !== 'survived') throw new Error(`The pilot did not survive: ${JSON.stringify(end)}`)
  return end
}

async function die(victim: Victim, name: string, strike: Strike, struck: Set<string>): Promise<Death> {
  const end = await victim.strike({ kind: 'live', name, strike })
  if (end.kind !== 'dying') throw new Error(`It did not die: ${JSON.stringify(end)}`)
  struck.add(end.step)
  return { name, strike, acknowledged: end.acknowledged, most: Math.max(end.acknowledged, 0) + 1 }
}

async function settle(victim: Victim, deaths: Death[], report: StepsReportOfAll): Promise<void> {
  const names = deaths.map(({ name }) => name)
  const checked = await victim.ask({ kind: 'check', names })
  if (checked.kind !== 'checked') throw new Error(`What is left does not open: ${JSON.stringify(checked)}`)
  for (const [n, { name, strike, acknowledged, most }] of deaths.entries()) {
    const found = checked.found[n] ?? NaN
    const isWhole = found >= acknowledged && (acknowledged < 0 || found <= most)
    if (!isWhole) report.losses.push(`${name} ${JSON.stringify(strike)}: ${found} found, ${acknowledged} acknowledged`)
  }
}
