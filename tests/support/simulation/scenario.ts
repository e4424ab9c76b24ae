import type { SeededRandom } from '../seeded-random.ts'
import type { Weather } from './outside-world.ts'

/** One random workflow: what it looks like and how often its own code fails. */
export interface ScriptShape {
  batch: number
  waitsForFullBatch: boolean
  hasMutate: boolean
  hasNext: boolean
  hasSecondConsumer: boolean
  producerFails: number
  prepareFails: number
  mutateFails: number
  nextFails: number
}

export interface Scenario {
  shapes: ScriptShape[]
  weather: Weather
  initialItems: number
  /** Things a person or the world does before everything is left to settle. */
  actions: number
  /** How often a person answers a question wrongly. */
  lies: number
  /** Whether the world can be asked afterwards if a mutation happened. */
  canReconcile: boolean
}

export const drawScenario = (random: SeededRandom, maxActions: number): Scenario => {
  const some = (most: number): number => (random.chance(0.5) ? 0 : random.next() * most)
  return {
    shapes: Array.from({ length: 1 + random.below(2) }, () => ({
      batch: 1 + random.below(3),
      waitsForFullBatch: random.chance(0.3),
      hasMutate: random.chance(0.8),
      hasNext: random.chance(0.8),
      hasSecondConsumer: random.chance(0.5),
      producerFails: some(0.15),
      prepareFails: some(0.2),
      mutateFails: some(0.2),
      nextFails: some(0.3),
    })),
    weather: {
      readFails: some(0.4),
      mutationFailsDefinitely: some(0.4),
      mutationUncertain: some(0.4),
      mutationNeverAnswers: some(0.3),
      mutationThrows: some(0.2),
      checkFails: some(0.8),
    },
    initialItems: 1 + random.below(3),
    actions: Math.min(4 + random.below(14), maxActions),
    lies: random.chance(0.3) ? 0.3 : 0,
    canReconcile: random.chance(0.4),
  }
}

/**
 * The script of a shape. Its faults are drawn from `ctx.random()`, so that a retry may fare better. Every other version calls its
 * second consumer by another name: attempts of the one before find their handler gone.
 */
export const scriptOf = (name: string, shape: ScriptShape, version = 1): string => `
const fails = (ctx, odds, where) => { if (ctx.random() < odds) throw new Error(where + ' failed') }
const carry = (topic, ctx, events) => ({
  reservations: events.length === 0 ? [] : [{ topic, ids: events.map((event) => event.messageId) }],
  data: { ids: events.map((event) => event.messageId) },
})
const mutate = async (prepared, ctx) => {
  fails(ctx, ${shape.mutateFails}, 'mutate')
  await ctx.world.write(prepared.data)
  throw new Error('nothing after a mutation may run')
}
export default defineWorkflow({
  name: '${name}',
  permissions: ['world'],
  topics: { items: {}, done: {} },
  producers: {
    poll: {
      schedule: { interval: '30s' },
      publishes: ['items'],
      async handler(state, ctx) {
        const count = await ctx.world.count()
        for (let i = state?.seen ?? 0; i < count; i++) {
          await ctx.topics.publish('items', { messageId: 'item-' + i, title: 'Item ' + i, payload: { i } })
        }
        fails(ctx, ${shape.producerFails}, 'producer')
        return { seen: count }
      },
    },
  },
  consumers: {
    carry: {
      subscribe: ['items'],
      publishes: ['done'],
      async prepare(state, ctx) {
        const events = await ctx.topics.peek('items', { limit: ${shape.batch} })
        fails(ctx, ${shape.prepareFails}, 'prepare')
        const isOld = events.length > 0 && events[0].createdAt < ctx.now() - 60000
        if (${String(shape.waitsForFullBatch)} && events.length < ${shape.batch} && !isOld) {
          return { reservations: [], data: {}, wakeAt: new Date(ctx.now() + 61000).toISOString() }
        }
        return carry('items', ctx, events)
      },
      ${shape.hasMutate ? 'mutate,' : ''}
      ${
        shape.hasNext
          ? `async next(prepared, mutation, ctx) {
        for (const id of prepared.data.ids) await ctx.topics.publish('done', { messageId: id, payload: { mutation: mutation.status } })
        fails(ctx, ${shape.nextFails}, 'next')
        return { last: prepared.data.ids }
      },`
          : ''
      }
    },
    ${
      shape.hasSecondConsumer
        ? `${version % 2 === 1 ? 'finish' : 'complete'}: {
      subscribe: ['done'],
      async prepare(state, ctx) { return carry('done', ctx, await ctx.topics.peek('done', { limit: 2 })) },
      ${shape.hasMutate ? 'mutate,' : ''}
    },`
        : ''
    }
  },
})
`
