import type { AgentRequest, SessionRequest } from '#engine/model/session-request.ts'
import { failurePolicies, sessionStrategies } from '#engine/model/session.ts'
import type { SeededRandom } from '../seeded-random.ts'

/** An agent whose own code fails now and then: a retry may fare better. */
const scriptOf = (odds: { prepare: number; next: number }, hasMutate: boolean): string => `
const fails = (ctx, odds, where) => { if (ctx.random() < odds) throw new Error(where + ' failed') }
export default defineAgent({
  permissions: ['world'],
  async prepare(state, ctx) {
    fails(ctx, ${odds.prepare}, 'prepare')
    await ctx.world.count()
    return { data: { mail: await ctx.session.inbox(), before: Object.keys(ctx.session.handoff) } }
  },
  ${hasMutate ? `async mutate(prepared, ctx) { await ctx.world.write(ctx.session.agent.key) },` : ''}
  async next(prepared, mutation, ctx) {
    fails(ctx, ${odds.next}, 'next')
    await ctx.session.context.set(ctx.session.agent.key, mutation.status)
    await ctx.session.send('worker', 'done')
    await ctx.session.output(prepared.data.before)
  },
})`

const drawAgent = (random: SeededRandom, n: number, more: Partial<AgentRequest>): AgentRequest => ({
  key: `a${String(n)}`,
  role: 'worker',
  task: { n },
  source: scriptOf({ prepare: random.pick([0, 0, 0.3]), next: random.pick([0, 0, 0.3]) }, random.chance(0.7)),
  ...more,
})

/** Agents that depend only on earlier ones; in a pipeline on earlier stages. */
export const drawSession = (random: SeededRandom): SessionRequest => {
  const strategy = random.pick(sessionStrategies)
  const size = 1 + random.below(6)
  const stages = 1 + random.below(3)
  const stageOf = (n: number): number => Math.floor((n * Math.min(stages, size)) / size)
  const agents = Array.from({ length: size }, (_, n) => {
    const isBefore = (m: number): boolean => strategy !== 'pipeline' || stageOf(m) < stageOf(n)
    const dependsOn = Array.from({ length: n }, (_unused, m) => m)
      .filter((m) => strategy !== 'parallel' && isBefore(m) && random.chance(0.35))
      .map((m) => `a${String(m)}`)
    return drawAgent(random, n, { dependsOn, ...(strategy === 'pipeline' ? { stage: stageOf(n) } : {}) })
  })
  return {
    objective: 'Live through it',
    strategy,
    onFailure: random.pick(failurePolicies),
    ...(random.chance(0.4) ? { maxParallel: 1 + random.below(3) } : {}),
    agents,
  }
}

/** One that can be added at any time: behind everybody else. */
export const drawLateAgent = (random: SeededRandom, request: SessionRequest, n: number): AgentRequest =>
  drawAgent(random, n, {
    ...(request.strategy === 'pipeline' ? { stage: Math.max(...request.agents.map(({ stage }) => stage ?? 0)) } : {}),
  })
