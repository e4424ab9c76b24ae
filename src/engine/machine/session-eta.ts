import type { AgentState, SessionAgent } from '../model/session.ts'
import type { SessionRules } from './session-plan.ts'
import { inDependencyOrder, nameAgents } from './session-plan.ts'
import { isUnderWay } from './session-states.ts'

export type TimedAgent = Pick<
  SessionAgent,
  'key' | 'role' | 'state' | 'dependencies' | 'stage' | 'position' | 'startedAt' | 'completedAt'
>

export type Estimate =
  | { kind: 'estimated'; at: number }
  /** There is nothing to estimate from, and why. */
  | { kind: 'no_basis'; because: string }

export interface Estimator {
  /** One of the agents is another than before. */
  moved(agent: TimedAgent): void
  estimate(now: number): Estimate
}

const OVER = 0
const PENDING = 1
const UNDER_WAY = 2

const progressOf = (state: AgentState): number => (state === 'pending' ? PENDING : isUnderWay(state) ? UNDER_WAY : OVER)

/**
 * When the last agent will be done: each takes as long as finished agents of its role took on average, and the longest chain of
 * agents that wait for each other decides; or, under a limit, the sum of all work shared by as many as may work at once.
 *
 * It is asked at every look at a session that may have hundreds of agents. So what never changes is worked out once, and what an
 * estimate goes through are a few short arrays of numbers.
 */
export const createEstimator = (rules: SessionRules, agents: readonly TimedAgent[]): Estimator => {
  const ordered = inDependencyOrder(agents)
  const placeOf = new Map(ordered.map(({ key }, place) => [key, place]))
  const roles = [...new Set(ordered.map(({ role }) => role))]
  const roleOf = Int32Array.from(ordered, ({ role }) => roles.indexOf(role))
  const stageOf = Int32Array.from(ordered, ({ stage }) => stage ?? 0)
  const needs = ordered.map(({ dependencies }) =>
    Int32Array.from(dependencies.flatMap((key) => placeOf.get(key) ?? [])),
  )
  const progress = new Uint8Array(ordered.length)
  const startedAt = new Float64Array(ordered.length)
  const tookMs = new Float64Array(ordered.length).fill(NaN)
  const ends = new Float64Array(ordered.length)

  const moved = ({ key, state, startedAt: start, completedAt }: TimedAgent): void => {
    const place = placeOf.get(key)
    if (place === undefined) return
    progress[place] = progressOf(state)
    startedAt[place] = start ?? NaN
    const isDone = state === 'completed' && start !== null && completedAt !== null
    // A clock that was set back meanwhile would make it negative.
    tookMs[place] = isDone ? Math.max(0, completedAt - start) : NaN
  }
  for (const agent of ordered) moved(agent)

  /** Of the finished agents of each role; NaN where there is none. */
  const averages = (): Float64Array => {
    const sums = new Float64Array(roles.length)
    const counts = new Float64Array(roles.length)
    for (let place = 0; place < tookMs.length; place += 1) {
      const ms = tookMs[place] ?? NaN
      const role = roleOf[place] ?? 0
      if (Number.isNaN(ms)) continue
      sums[role] = (sums[role] ?? 0) + ms
      counts[role] = (counts[role] ?? 0) + 1
    }
    return sums.map((sum, role) => sum / (counts[role] ?? 0))
  }

  const timeLeft = (place: number, average: number, now: number): number => {
    const start = startedAt[place] ?? NaN
    const isWaiting = progress[place] === PENDING || Number.isNaN(start)
    return isWaiting ? average : Math.max(0, average - Math.max(0, now - start))
  }

  const lastNeeded = (place: number): number => {
    let latest = 0
    for (const needed of needs[place] ?? []) {
      if (progress[needed] !== OVER) latest = Math.max(latest, ends[needed] ?? 0)
    }
    return latest
  }

  const estimate = (now: number): Estimate => {
    const average = averages()
    const unknown = new Set<string>()
    const stages = new Map<number, number>()
    let [count, total, longest, latestEnd] = [0, 0, 0, 0]
    for (let place = 0; place < progress.length; place += 1) {
      if (progress[place] === OVER) continue
      const role = roleOf[place] ?? 0
      const ms = timeLeft(place, average[role] ?? NaN, now)
      if (Number.isNaN(average[role] ?? NaN)) unknown.add(roles[role] ?? '')
      count += 1
      total += ms
      longest = Math.max(longest, ms)
      ends[place] = lastNeeded(place) + ms
      latestEnd = Math.max(latestEnd, ends[place] ?? 0)
      const stage = stageOf[place] ?? 0
      if (rules.strategy === 'pipeline') stages.set(stage, Math.max(stages.get(stage) ?? 0, ms))
    }
    if (count === 0) return { kind: 'no_basis', because: 'Nothing is left to do.' }
    if (unknown.size > 0) {
      const names = nameAgents([...unknown])
      const because = `No agent with the role ${names} has finished yet, so there is nothing to estimate from.`
      return { kind: 'no_basis', because }
    }
    const byStage = [...stages.values()].reduce((sum, ms) => sum + ms, 0)
    const paths = { parallel: longest, sequential: total, pipeline: byStage, adaptive: latestEnd }
    const shared = rules.maxParallel === null ? 0 : total / rules.maxParallel
    return { kind: 'estimated', at: now + Math.round(Math.max(paths[rules.strategy], shared)) }
  }

  return { moved, estimate }
}
