/** Small scripts that tests share. Each takes its handlers as source text. */

interface ConsumerText {
  prepare?: string
  mutate?: string | null
  next?: string | null
}

/** Takes the oldest event, sends it to the box, and publishes `done` for it. */
const carryOne = `async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: event.payload }
      }`

const sendIt = `async mutate(prepared, ctx) { await ctx.box.send(prepared.data) }`

const publishDone = `async next(prepared, mutation, ctx) {
        await ctx.topics.publish('done', { messageId: prepared.reservations[0].ids[0], payload: mutation })
        return { last: mutation.status }
      }`

/** One consumer of `item`; with a second one of `done` when asked for. No producer: events come by hand. */
export const consumerScript = ({
  prepare = carryOne,
  mutate = sendIt,
  next = publishDone,
}: ConsumerText = {}): string => `
export default defineWorkflow({
  name: 'carrier',
  topics: { item: {}, done: {} },
  consumers: {
    carry: {
      subscribe: ['item'],
      publishes: ['done'],
      ${[prepare, mutate, next].filter((part) => part !== null).join(',\n      ')},
    },
  },
})`

/** One producer on a schedule; its handler is given. */
export const producerScript = (handler: string, schedule = `{ interval: '5m' }`): string => `
export default defineWorkflow({
  name: 'source',
  topics: { item: {} },
  producers: { poll: { schedule: ${schedule}, publishes: ['item'], ${handler} } },
})`

export const publishTwo = `async handler(state, ctx) {
      await ctx.topics.publish('item', { messageId: 'a', title: 'A', payload: { n: 1 } })
      await ctx.topics.publish('item', { messageId: 'b', title: 'B', payload: { n: 2 } })
      return { polls: (state?.polls ?? 0) + 1 }
    }`

interface HandlerTexts {
  /** By name: the schedule and the handler. */
  producers?: Record<string, { schedule?: string; handler: string }>
  /** By name: what it subscribes to, and its phases. */
  consumers?: Record<string, ConsumerText & { subscribe?: string[] }>
}

/** Any number of handlers over the topics `item` and `done`; each may publish to both. */
export const workflowScript = ({ producers = {}, consumers = {} }: HandlerTexts): string => {
  const producerTexts = Object.entries(producers).map(
    ([name, { schedule = `{ interval: '5m' }`, handler }]) =>
      `${name}: { schedule: ${schedule}, publishes: ['item', 'done'], ${handler} }`,
  )
  const consumerTexts = Object.entries(consumers).map(
    ([name, { subscribe = ['item'], prepare = carryOne, mutate = sendIt, next = null }]) =>
      `${name}: { subscribe: ${JSON.stringify(subscribe)}, publishes: ['item', 'done'], ${[prepare, mutate, next]
        .filter((part) => part !== null)
        .join(', ')} }`,
  )
  return `
export default defineWorkflow({
  name: 'flow',
  topics: { item: {}, done: {} },
  producers: { ${producerTexts.join(',\n')} },
  consumers: { ${consumerTexts.join(',\n')} },
})`
}

/** A producer's handler that publishes these items. */
export const publishing = (...messageIds: string[]): string => `async handler(state, ctx) {
      for (const messageId of ${JSON.stringify(messageIds)}) await ctx.topics.publish('item', { messageId, payload: { messageId } })
    }`
