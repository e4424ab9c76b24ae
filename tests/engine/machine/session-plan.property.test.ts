import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planSession, type PlannedAgent, type SessionRules } from '#engine/machine/session-plan.ts'
import { agentTable, isUnderWay, type AgentMove } from '#engine/machine/session-states.ts'
import { decideMove } from '#engine/machine/move-table.ts'
import { failurePolicies, sessionStrategies } from '#engine/model/session.ts'

type Agents = Map<string, PlannedAgent>

/** Agents that depend only on earlier ones (in a pipeline: on earlier stages), listed in any order. */
const sessions = fc
  .record({
    strategy: fc.constantFrom(...sessionStrategies),
    onFailure: fc.constantFrom(...failurePolicies),
    maxParallel: fc.option(fc.integer({ min: 1, max: 3 })),
    size: fc.integer({ min: 1, max: 8 }),
    seed: fc.array(fc.nat(), { minLength: 80, maxLength: 80 }),
  })
  .map(({ strategy, onFailure, maxParallel, size, seed }) => {
    let used = 0
    const draw = (limit: number): number => (seed[used++ % seed.length] ?? 0) % limit
    const stages = 1 + draw(3)
    const agents = Array.from({ length: size }, (_, n): PlannedAgent => {
      const stage = strategy === 'pipeline' ? Math.min(stages - 1, Math.floor((n * stages) / size)) : null
      const mayDepend = Array.from({ length: n }, (_unused, m) => m).filter(
        (m) => strategy !== 'pipeline' || Math.floor((m * stages) / size) < (stage ?? 0),
      )
      const dependencies =
        strategy === 'parallel' ? [] : mayDepend.filter(() => draw(3) === 0).map((m) => `a${String(m)}`)
      return {
        key: `a${String(n)}`,
        state: 'pending',
        dependencies,
        stage,
        position: (n * 7 + 3) % 11,
        startedAt: null,
      }
    })
    return { rules: { strategy, onFailure, maxParallel } satisfies SessionRules, agents }
  })

const outcomes = ['completed', 'completed', 'failed', 'blocked', 'paused'] as const

const move = (agents: Agents, key: string, event: AgentMove): void => {
  const agent = agents.get(key)
  if (agent === undefined) throw new Error(`no ${key}`)
  const state = decideMove(agentTable, agent.state, event)
  if (!state.ok) throw new Error(state.error.message)
  agents.set(key, { ...agent, state: state.value, startedAt: event === 'started' ? 1 : agent.startedAt })
}

/** What may be started at this moment, by the words of the specification and not by the code. */
const expectLegalStart = (rules: SessionRules, agents: Agents, key: string): void => {
  const all = [...agents.values()]
  const agent = agents.get(key)
  expect(agent?.state).toBe('pending')
  for (const needed of agent?.dependencies ?? []) expect(agents.get(needed)?.state).toBe('completed')
  const isRetried = agent?.startedAt !== null
  if (rules.onFailure === 'stop' && !isRetried) expect(all.some(({ state }) => state === 'failed')).toBe(false)
  if (rules.strategy === 'sequential') expect(all.some(({ state }) => isUnderWay(state))).toBe(false)
  if (rules.strategy === 'pipeline') {
    const before = all.filter(({ stage }) => (stage ?? 0) < (agent?.stage ?? 0))
    expect(before.every(({ state }) => state === 'completed')).toBe(true)
  }
}

const applyPlan = (rules: SessionRules, agents: Agents): 'completed' | 'failed' | null => {
  const plan = planSession(rules, [...agents.values()])
  for (const { key } of plan.skip) move(agents, key, 'skipped')
  for (const key of plan.start) {
    expectLegalStart(rules, agents, key)
    move(agents, key, 'started')
  }
  const underWay = [...agents.values()].filter(({ state }) => isUnderWay(state)).length
  expect(underWay).toBeLessThanOrEqual(rules.maxParallel ?? Infinity)
  if (plan.end === null) {
    // Asked again, it changes nothing more.
    expect(planSession(rules, [...agents.values()])).toEqual({ start: [], skip: [], end: null })
  }
  return plan.end
}

test('whatever fails, blocks, pauses and is retried, every strategy starts agents in a legal order and comes to an end', () => {
  fc.assert(
    fc.property(sessions, fc.array(fc.nat(), { maxLength: 200 }), ({ rules, agents: listed }, chances) => {
      const agents: Agents = new Map(listed.map((agent) => [agent.key, agent]))
      let end = applyPlan(rules, agents)
      let retriesLeft = 3
      for (let step = 0; step < 200 && (end === null || retriesLeft > 0); step += 1) {
        const chance = chances[step] ?? 0
        const failed = [...agents.values()].filter(({ state }) => state === 'failed')
        const underWay = [...agents.values()].filter(({ state }) => isUnderWay(state))
        const again = failed[chance % Math.max(1, failed.length)]
        if (again !== undefined && retriesLeft > 0 && (chance % 5 === 0 || end !== null)) {
          retriesLeft -= 1
          move(agents, again.key, 'retried')
          const isStillStopping = rules.onFailure === 'stop' && failed.length > 1
          const skipped = [...agents.values()].filter(({ state }) => state === 'skipped' && !isStillStopping)
          for (const { key } of skipped) move(agents, key, 'retried')
        } else if (underWay.length === 0) break
        else {
          const one = underWay[chance % underWay.length]
          if (one === undefined) break
          if (one.state === 'running') move(agents, one.key, outcomes[chance % outcomes.length] ?? 'completed')
          else move(agents, one.key, one.state === 'paused' ? 'resumed' : 'unblocked')
        }
        end = applyPlan(rules, agents)
      }
      const states = [...agents.values()].map(({ state }) => state)
      expect(end).not.toBe(null)
      expect(states.filter((state) => !['completed', 'failed', 'skipped'].includes(state))).toEqual([])
      expect(end).toBe(states.includes('failed') ? 'failed' : 'completed')
      if (end === 'completed') expect(states.every((state) => state === 'completed')).toBe(true)
    }),
    { numRuns: 2000 },
  )
})
