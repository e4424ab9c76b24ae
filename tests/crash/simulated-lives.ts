import { expect } from 'vitest'
import { crashPoints } from '#engine/ports/crash-point.ts'
import { loadSqlJs } from '../support/open-test-store.ts'
import type { Opportunity } from '../support/simulation/mortal-ports.ts'
import { simulate, type SimulationOptions, type SimulationResult } from '../support/simulation/simulate.ts'

export interface Census {
  lives: number
  deathsAt: Map<Opportunity, number>
  /** Phases that were run ahead and taken. */
  takenAhead: number
}

type Choice = Omit<SimulationOptions, 'sqlJs'>

/** Fails with everything needed to see the same life again. */
export const liveAndJudge = async (choice: Choice, census: Census): Promise<SimulationResult> => {
  const result = await simulate({ ...choice, sqlJs: await loadSqlJs() })
  census.lives += result.lives
  census.takenAhead += result.takenAhead
  for (const point of result.deaths) census.deathsAt.set(point, (census.deathsAt.get(point) ?? 0) + 1)
  const again = `HOLDFAST_SIM_SEED=${String(choice.seed)}${choice.firstDeathAt === undefined ? '' : ` HOLDFAST_SIM_DEATH=${String(choice.firstDeathAt)}`}${choice.runsAhead === true ? ' HOLDFAST_SIM_AHEAD=1' : ''} npx vitest run tests/crash/reproduce.crash.test.ts`
  expect(result.problems, `Died at ${result.deaths.join(', ')}. To see it again: ${again}`).toEqual([])
  return result
}

/** Short lives, so that many different ones can be killed at every opportunity they have. */
export const shortLife = { maxDeaths: 1, maxActions: 6 }

export const newCensus = (): Census => ({ lives: 0, deathsAt: new Map(), takenAhead: 0 })

/** Kills the first life of one seed at its first opportunity, then at its second, … until it can no longer be killed. */
export const dieAtEveryOpportunity = async (
  seed: number,
  census: Census,
  { step = 1, runsAhead = false }: { step?: number; runsAhead?: boolean } = {},
): Promise<void> => {
  for (let firstDeathAt = 1; ; firstDeathAt += step) {
    const choice = { seed, firstDeathAt, runsAhead, ...shortLife }
    const { deaths, firstLifeOpportunities } = await liveAndJudge(choice, census)
    if (deaths.length === 0 || firstLifeOpportunities < firstDeathAt) return
  }
}

/** Lives here are too short for anything to be archived: retention.crash.test.ts dies at these. */
const pointsOfRetention: readonly string[] = ['archive_written', 'archive_rows_deleted', 'archive_rows_restored']

export const expectEveryCrashPoint = ({ deathsAt }: Census): void => {
  const never = [...crashPoints, 'before_commit', 'after_commit', 'before_flush'].filter(
    (point) => !deathsAt.has(point as Opportunity) && !pointsOfRetention.includes(point),
  )
  expect(never, 'crash points at which nothing ever died').toEqual([])
}
