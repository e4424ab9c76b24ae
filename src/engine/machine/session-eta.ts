import type { SessionAgent } from '../model/session.ts'
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

/**
 * When the last agent will be done: each takes as long as finished agents of its role took on average, and the longest chain of
 * agents that wait for each other decides; or, under a limit, the sum of all work shared by as many as may work at once.
 */
export const estimateCompletion = (rules: SessionRules, agents: readonly TimedAgent[], now: number): Estimate => {
  const remaining = agents.filter(({ state }) => state === 'pending' || isUnderWay(state))
  if (remaining.length === 0) return { kind: 'no_basis', because: 'Nothing is left to do.' }
  const averages = averageByRole(agents)
  const unknown = [...new Set(remaining.filter(({ role }) => !averages.has(role)).map(({ role }) => role))]
  if (unknown.length > 0) {
    return {
      kind: 'no_basis',
      because: `No agent with the role ${nameAgents(unknown)} has finished yet, so there is nothing to estimate from.`,
    }
  }
  const left = new Map(remaining.map((agent) => [agent.key, timeLeft(agent, averages.get(agent.role) ?? 0, now)]))
  const total = [...left.values()].reduce((sum, ms) => sum + ms, 0)
  const shared = rules.maxParallel === null ? 0 : total / rules.maxParallel
  return { kind: 'estimated', at: now + Math.round(Math.max(longestPath(rules, remaining, left), shared)) }
}

const averageByRole = (agents: readonly TimedAgent[]): Map<string, number> => {
  const sums = new Map<string, { ms: number; count: number }>()
  for (const { role, state, startedAt, completedAt } of agents) {
    if (state !== 'completed' || startedAt === null || completedAt === null) continue
    const sum = sums.get(role) ?? { ms: 0, count: 0 }
    // A clock that was set back meanwhile would make it negative.
    sum.ms += Math.max(0, completedAt - startedAt)
    sum.count += 1
    sums.set(role, sum)
  }
  return new Map([...sums].map(([role, { ms, count }]) => [role, ms / count]))
}

const timeLeft = ({ state, startedAt }: TimedAgent, average: number, now: number): number =>
  startedAt === null || state === 'pending' ? average : Math.max(0, average - Math.max(0, now - startedAt))

const longestPath = (
  { strategy }: SessionRules,
  remaining: readonly TimedAgent[],
  left: ReadonlyMap<string, number>,
): number => {
  const msOf = ({ key }: TimedAgent): number => left.get(key) ?? 0
  switch (strategy) {
    case 'parallel':
      return largest(remaining.map(msOf))
    case 'sequential':
      return remaining.reduce((sum, agent) => sum + msOf(agent), 0)
    case 'pipeline': {
      const stages = new Map<number, number>()
      for (const agent of remaining) {
        const stage = agent.stage ?? 0
        stages.set(stage, Math.max(stages.get(stage) ?? 0, msOf(agent)))
      }
      return [...stages.values()].reduce((sum, ms) => sum + ms, 0)
    }
    case 'adaptive': {
      const endOf = new Map<string, number>()
      for (const agent of inDependencyOrder(remaining)) {
        endOf.set(agent.key, largest(agent.dependencies.map((key) => endOf.get(key) ?? 0)) + msOf(agent))
      }
      return largest([...endOf.values()])
    }
  }
}

const largest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0)
