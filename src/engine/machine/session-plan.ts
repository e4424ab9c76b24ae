import type { FailurePolicy, SessionAgent, SessionStrategy } from '../model/session.ts'
import { isUnderWay } from './session-states.ts'

export type PlannedAgent = Pick<SessionAgent, 'key' | 'state' | 'dependencies' | 'stage' | 'position' | 'startedAt'>

export interface SessionRules {
  strategy: SessionStrategy
  onFailure: FailurePolicy
  maxParallel: number | null
}

export interface SessionPlan {
  start: string[]
  skip: { key: string; because: string }[]
  /** Null while something is under way or still to come. */
  end: 'completed' | 'failed' | null
}

/**
 * What a running session does next, seen from the states of its agents. Applied again to what it leads to, it changes nothing
 * more: it can be asked after every move and after every restart.
 */
export const planSession = (rules: SessionRules, agents: readonly PlannedAgent[]): SessionPlan => {
  const inOrder = [...agents].sort((a, b) => a.position - b.position)
  const hasFailed = inOrder.some(({ state }) => state === 'failed')
  const isStopping = hasFailed && rules.onFailure === 'stop'
  const underWay = inOrder.filter(({ state }) => isUnderWay(state)).length
  // A sequence stays one also when an earlier agent is retried while a later one is under way.
  const limit = rules.strategy === 'sequential' ? 1 : (rules.maxParallel ?? Infinity)
  const free = Math.max(0, limit - underWay)
  if (isStopping) return stopPlan(inOrder, underWay, free)

  const doomed = findDoomed(rules.strategy, inOrder)
  const alive = inOrder.filter(({ key }) => !doomed.has(key))
  const start = readyAgents(rules.strategy, alive).slice(0, free)
  const isOver = underWay === 0 && alive.every(({ state }) => state !== 'pending')
  return {
    start: start.map(({ key }) => key),
    skip: [...doomed].map(([key, because]) => ({ key, because })),
    end: isOver ? (hasFailed ? 'failed' : 'completed') : null,
  }
}

/** What is under way finishes, and what was retried by hand; nothing new starts. Then the session is over. */
const stopPlan = (agents: readonly PlannedAgent[], underWay: number, free: number): SessionPlan => {
  const pending = agents.filter(({ state }) => state === 'pending')
  const retried = pending.filter(({ startedAt }) => startedAt !== null).map(({ key }) => key)
  if (underWay > 0 || retried.length > 0) return { start: retried.slice(0, free), skip: [], end: null }
  const because = `The session stops on failure, and ${nameAgents(withState(agents, 'failed'))} failed.`
  return { start: [], skip: pending.map(({ key }) => ({ key, because })), end: 'failed' }
}

/** Pending agents that can never start, because something they need failed or was skipped itself. */
const findDoomed = (strategy: SessionStrategy, agents: readonly PlannedAgent[]): Map<string, string> => {
  const doomed = new Map<string, string>()
  const lost = new Set([...withState(agents, 'failed'), ...withState(agents, 'skipped')])
  const isPipeline = strategy === 'pipeline'
  let lostStage = Infinity
  for (const agent of isPipeline ? inStageOrder(agents) : inDependencyOrder(agents)) {
    if (agent.state === 'pending') {
      const missing = agent.dependencies.filter((key) => lost.has(key))
      if (missing.length > 0) {
        doomed.set(agent.key, `It depends on ${nameAgents(missing)}, which did not complete.`)
      } else if (isPipeline && stageOf(agent) > lostStage) {
        doomed.set(
          agent.key,
          `Stage ${String(lostStage)} did not complete, so stage ${String(stageOf(agent))} cannot start.`,
        )
      }
      if (doomed.has(agent.key)) lost.add(agent.key)
    }
    if (lost.has(agent.key)) lostStage = Math.min(lostStage, stageOf(agent))
  }
  return doomed
}

const stageOf = ({ stage }: PlannedAgent): number => stage ?? 0

/** In a pipeline agents depend on earlier stages only. */
const inStageOrder = (agents: readonly PlannedAgent[]): PlannedAgent[] =>
  [...agents].sort((a, b) => stageOf(a) - stageOf(b) || a.position - b.position)

const readyAgents = (strategy: SessionStrategy, agents: readonly PlannedAgent[]): PlannedAgent[] => {
  const completed = new Set(withState(agents, 'completed'))
  const isReady = ({ state, dependencies }: PlannedAgent): boolean =>
    state === 'pending' && dependencies.every((key) => completed.has(key))
  switch (strategy) {
    case 'parallel':
    case 'adaptive':
      return agents.filter(isReady)
    case 'sequential': {
      const next = inDependencyOrder(agents).find(({ state }) => state === 'pending' || isUnderWay(state))
      return next !== undefined && isReady(next) ? [next] : []
    }
    case 'pipeline': {
      const unfinished = agents.filter(({ state }) => state === 'pending' || isUnderWay(state))
      const stage = Math.min(...unfinished.map(stageOf))
      return unfinished.filter((agent) => stageOf(agent) === stage && isReady(agent))
    }
  }
}

/** The order of the list, except that nothing comes before what it depends on. */
export const inDependencyOrder = <T extends PlannedAgent>(agents: readonly T[]): T[] => {
  const byKey = new Map(agents.map((agent) => [agent.key, agent]))
  const ordered = new Set<T>()
  const waiting = [...agents].sort((a, b) => b.position - a.position)
  const entered = new Set<T>()
  while (waiting.length > 0) {
    const agent = waiting[waiting.length - 1]
    if (agent === undefined) break
    const missing = entered.has(agent)
      ? []
      : agent.dependencies.flatMap((key) => byKey.get(key) ?? []).filter((needed) => !ordered.has(needed))
    entered.add(agent)
    if (missing.length > 0) {
      waiting.push(...missing.sort((a, b) => b.position - a.position))
    } else {
      waiting.pop()
      ordered.add(agent)
    }
  }
  return [...ordered]
}

/** Whose outputs an agent is handed: of what it depends on, of the stage before, of the one before it in a sequence. */
export const handoffKeys = (
  strategy: SessionStrategy,
  agents: readonly PlannedAgent[],
  agent: PlannedAgent,
): string[] => {
  const keys = new Set(agent.dependencies)
  if (strategy === 'pipeline' && agent.stage !== null) {
    const earlier = agents.flatMap(({ stage }) => (stage !== null && stage < (agent.stage ?? 0) ? [stage] : []))
    const before = Math.max(...earlier)
    for (const { key, stage } of agents) if (stage === before) keys.add(key)
  }
  if (strategy === 'sequential') {
    const ordered = inDependencyOrder(agents)
    const before = ordered[ordered.findIndex(({ key }) => key === agent.key) - 1]
    if (before !== undefined) keys.add(before.key)
  }
  return [...keys]
}

const withState = (agents: readonly PlannedAgent[], wanted: PlannedAgent['state']): string[] =>
  agents.filter(({ state }) => state === wanted).map(({ key }) => key)

/** At most a few by name: a sentence with 300 names is none. */
const namedAgents = 5

export const nameAgents = (keys: readonly string[]): string => {
  const shown = keys.slice(0, namedAgents).map((key) => JSON.stringify(key))
  const rest = keys.length - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${String(rest)} more` : shown.join(', ')
}
