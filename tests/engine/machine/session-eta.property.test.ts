import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEstimator, type TimedAgent } from '#engine/machine/session-eta.ts'
import type { SessionRules } from '#engine/machine/session-plan.ts'
import { sessionStrategies } from '#engine/model/session.ts'

const NOW = 10_000

const drawnAgents = fc
  .array(
    fc.record({
      role: fc.constantFrom('writer', 'reader', 'constructor'),
      state: fc.constantFrom('pending', 'running', 'blocked', 'completed', 'failed', 'skipped'),
      needs: fc.array(fc.nat({ max: 6 }), { maxLength: 2 }),
      startedAt: fc.integer({ min: 0, max: 12_000 }),
      tookMs: fc.integer({ min: -500, max: 5000 }),
      stage: fc.nat({ max: 2 }),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((drawn) =>
    drawn.map(({ role, state, needs, startedAt, tookMs, stage }, n): TimedAgent => {
      const wasStarted = state !== 'pending' && state !== 'skipped'
      return {
        key: `a${String(n)}`,
        role,
        state,
        dependencies: [...new Set(needs.filter((m) => m < n))].map((m) => `a${String(m)}`),
        stage,
        position: (n * 5 + 2) % 7,
        startedAt: wasStarted ? startedAt : null,
        completedAt: state === 'completed' ? startedAt + tookMs : null,
      }
    }),
  )

const drawnRules: fc.Arbitrary<SessionRules> = fc.record({
  strategy: fc.constantFrom(...sessionStrategies),
  onFailure: fc.constant('stop' as const),
  maxParallel: fc.option(fc.integer({ min: 1, max: 3 })),
})

/** By the words of the specification, as slowly as it likes. */
const expected = ({ strategy, maxParallel }: SessionRules, agents: readonly TimedAgent[]): number | null => {
  const isLeft = ({ state }: TimedAgent): boolean => ['pending', 'running', 'paused', 'blocked'].includes(state)
  const left = agents.filter(isLeft)
  const averageOf = (role: string): number => {
    const done = agents.filter((agent) => agent.role === role && agent.state === 'completed')
    const times = done.map(({ startedAt, completedAt }) => Math.max(0, (completedAt ?? 0) - (startedAt ?? 0)))
    return times.reduce((sum, ms) => sum + ms, 0) / times.length
  }
  const msOf = ({ role, state, startedAt }: TimedAgent): number =>
    state === 'pending' ? averageOf(role) : Math.max(0, averageOf(role) - Math.max(0, NOW - (startedAt ?? 0)))
  if (left.length === 0 || left.some(({ role }) => Number.isNaN(averageOf(role)))) return null
  const endOf = (agent: TimedAgent): number =>
    msOf(agent) + Math.max(0, ...left.filter(({ key }) => agent.dependencies.includes(key)).map(endOf))
  const total = left.reduce((sum, agent) => sum + msOf(agent), 0)
  const ofStage = (stage: number): number => Math.max(0, ...left.filter((agent) => agent.stage === stage).map(msOf))
  const path = {
    parallel: () => Math.max(...left.map(msOf)),
    sequential: () => total,
    pipeline: () => ofStage(0) + ofStage(1) + ofStage(2),
    adaptive: () => Math.max(...left.map(endOf)),
  }[strategy]()
  return NOW + Math.round(Math.max(path, maxParallel === null ? 0 : total / maxParallel))
}

const estimateOf = (rules: SessionRules, agents: readonly TimedAgent[]): number | null => {
  const estimate = createEstimator(rules, agents).estimate(NOW)
  return estimate.kind === 'estimated' ? estimate.at : null
}

test('the estimate follows the longest remaining path and what finished agents of the role took', () => {
  fc.assert(
    fc.property(drawnRules, drawnAgents, (rules, agents) => {
      const [estimated, wanted] = [estimateOf(rules, agents), expected(rules, agents)]
      if (wanted === null) expect(estimated).toBe(null)
      else expect(Math.abs((estimated ?? NaN) - wanted)).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})

test('an estimator that is told of each move says the same as one that looks at everything anew', () => {
  fc.assert(
    fc.property(drawnRules, drawnAgents, drawnAgents, (rules, before, after) => {
      const agents = before.map((agent, n) => {
        const { state, startedAt, completedAt } = after[n] ?? agent
        return { ...agent, state, startedAt, completedAt }
      })
      const estimator = createEstimator(rules, before)
      for (const agent of agents) estimator.moved(agent)
      expect(estimator.estimate(NOW)).toEqual(createEstimator(rules, agents).estimate(NOW))
    }),
    { numRuns: 300 },
  )
})
