import { beforeEach, describe, expect, test } from 'vitest'
import { heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const events = (columns = 'message_id, title, payload, status'): Record<string, unknown>[] =>
  world.rows(`SELECT ${columns} FROM events ORDER BY id`)

/** Publishes what the box says: [messageId, title, payload] each. */
const publisher = producerScript(`async handler(state, ctx) {
  for (const [messageId, title, payload] of await ctx.box.get('what')) await ctx.topics.publish('item', { messageId, title, payload })
  await ctx.box.get('go on')
}`)

const publishes = async (...list: [string, string, number][]): Promise<void> => {
  world.box.answers.push({ kind: 'ok', value: list })
  const [workflow] = world.engine.listWorkflows()
  await world.engine.runWorkflow(workflow?.id ?? '')
  await world.settle()
}

describe('publishing', () => {
  test('is buffered: nothing is there before the handler has committed, then everything is', async () => {
    const held = heldAnswer()
    world.box.answers.push(
      {
        kind: 'ok',
        value: [
          ['a', 'A', 1],
          ['b', 'B', 2],
        ],
      },
      held.answer,
    )
    await world.deploy(publisher)
    await world.until(() => world.box.calls.length === 2)
    expect(events()).toEqual([])
    held.give()
    await world.settle()
    expect(events('message_id, created_by_run_id')).toEqual(
      ['a', 'b'].map((message_id) => ({
        message_id,
        created_by_run_id: world.value(`SELECT max(id) FROM handler_runs`),
      })),
    )
  })

  describe('the same message id again', () => {
    beforeEach(async () => {
      world.box.answers.push({ kind: 'ok', value: [['a', 'old', 1]] })
      await world.deploy(publisher)
      await world.settle()
    })

    test('gives a pending event its new title and payload, and leaves its place in the line', async () => {
      const id = world.value(`SELECT id FROM events`)
      await publishes(['b', 'B', 2], ['a', 'new', 3])
      expect(events('id, message_id, title, payload')).toMatchObject([
        { id, message_id: 'a', title: 'new', payload: '3' },
        { message_id: 'b' },
      ])
    })

    test.each(['consumed', 'skipped'])('leaves one that is %s as it is', async (status) => {
      world.change(`UPDATE events SET status = ?`, status)
      await publishes(['a', 'new', 3])
      expect(events()).toEqual([{ message_id: 'a', title: 'old', payload: '1', status }])
    })

    test('in one and the same handler run is one event with what was said last', async () => {
      await publishes(['c', 'first', 1], ['c', 'last', 2])
      expect(events().filter((row) => row['message_id'] === 'c')).toEqual([
        { message_id: 'c', title: 'last', payload: '2', status: 'pending' },
      ])
    })
  })

  test('an event that is being carried does not change under the hands of the one who carries it', async () => {
    const id = await world.deploy(consumerScript())
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id, 'm1', { n: 1 })
    await world.until(() => world.box.calls.length === 1)
    await world.publish(id, 'm1', { n: 2 })
    expect(world.value(`SELECT payload FROM events`)).toBe('{"n":1}')
    held.give()
    await world.settle()
    expect(world.value(`SELECT status FROM events WHERE message_id = 'm1' AND caused_by = '[]'`)).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
  })

  test('is the same message id in another topic another event', async () => {
    const id = await world.deploy(workflowScript({ producers: { p: { handler: 'async handler() {}' } } }))
    await world.engine.publishEvent(id, 'item', { messageId: 'a' })
    await world.engine.publishEvent(id, 'done', { messageId: 'a' })
    expect(world.value(`SELECT count(*) FROM events WHERE message_id = 'a'`)).toBe(2)
  })

  test('has a limit for each handler run, and over it nothing is published', async () => {
    world = await openTestEngine({ maxPublishesPerAttempt: 3 })
    await world.deploy(
      producerScript(
        `async handler(state, ctx) { for (let i = 0; i < 4; i++) await ctx.topics.publish('item', { messageId: 'm' + i }) }`,
      ),
    )
    await world.settle()
    expect(events()).toEqual([])
    expect(world.rows(`SELECT status, error FROM handler_runs`)).toEqual([
      {
        status: 'failed:logic',
        error:
          'topics.publish: more than 3 events in one handler run. Publish fewer and leave the rest to the next one.',
      },
    ])
  })
})

describe('reservations', () => {
  const reserving = (reservations: string): string =>
    consumerScript({
      prepare: `async prepare(state, ctx) {
        if ((await ctx.topics.peek('item')).length === 0) return { reservations: [] }
        return { reservations: ${reservations}, wakeAt: new Date(ctx.now() + 60000).toISOString() }
      }`,
    })

  test.each([
    [
      'was never published',
      `[{ topic: 'item', ids: ['m1', 'ghost'] }]`,
      'prepare wants to reserve "ghost" of topic "item", but no event with this id was ever published there.',
    ],
    [
      'is consumed',
      `[{ topic: 'item', ids: ['m1', 'gone'] }]`,
      'prepare wants to reserve "gone" of topic "item", but it is already consumed.',
    ],
    [
      'is of a topic that is not subscribed',
      `[{ topic: 'item', ids: ['m1'] }, { topic: 'done', ids: ['m1'] }]`,
      'prepare reserved events of the topic "done", which this consumer does not subscribe to (it subscribes to "item").',
    ],
    [
      'is named twice',
      `[{ topic: 'item', ids: ['m1', 'm1'] }]`,
      'prepare reserved the event "m1" of the topic "item" twice.',
    ],
  ])('with one id that %s reserve nothing at all', async (_, reservations, sentence) => {
    const id = await world.deploy(reserving(reservations))
    await world.engine.pauseWorkflow(id)
    await world.publish(id, 'gone')
    world.change(`UPDATE events SET status = 'consumed'`)
    await world.publish(id, 'm1')
    await world.engine.resumeWorkflow(id)
    await world.settle()
    const [failed] = world.rows(`SELECT phase, status, error, prepare_result FROM handler_runs ORDER BY id DESC`)
    expect(failed).toMatchObject({ phase: 'preparing', status: 'failed:logic', prepare_result: null })
    expect(failed?.['error']).toContain(sentence)
    expect(world.value(`SELECT status FROM events WHERE message_id = 'm1'`)).toBe('pending')
    expect(world.value(`SELECT count(*) FROM handler_state WHERE wake_at IS NOT NULL`)).toBe(0)
  })

  test('over several topics are made together', async () => {
    const id = await world.deploy(
      workflowScript({
        consumers: {
          pair: {
            subscribe: ['item', 'done'],
            prepare: `async prepare(state, ctx) {
              const items = await ctx.topics.peek('item'), dones = await ctx.topics.peek('done')
              if (!items.length || !dones.length) return { reservations: [] }
              return { reservations: [{ topic: 'item', ids: [items[0].messageId] }, { topic: 'done', ids: [dones[0].messageId] }] }
            }`,
          },
        },
      }),
    )
    await world.publish(id, 'left')
    await world.settle()
    expect(events()).toMatchObject([{ status: 'pending' }])
    await world.engine.publishEvent(id, 'done', { messageId: 'right' })
    await world.settle()
    expect(events()).toMatchObject([{ status: 'consumed' }, { status: 'consumed' }])
  })
})

describe('causes', () => {
  const relay = (from: string, to: string | null): string => `${from}: {
    subscribe: ['${from}'], publishes: ${JSON.stringify(to === null ? [] : [to])},
    async prepare(state, ctx) {
      const found = await ctx.topics.peek('${from}')
      return { reservations: [{ topic: '${from}', ids: found.map((event) => event.messageId) }], data: 1 }
    },
    async next(prepared, mutation, ctx) {
      ${to === null ? '' : `await ctx.topics.publish('${to}', { messageId: prepared.reservations[0].ids.join('+') })`}
    },
  }`
  const threeHops = `export default defineWorkflow({
    name: 'hops', topics: { first: {}, second: {}, third: {} },
    consumers: { ${relay('first', 'second')}, ${relay('second', 'third')}, ${relay('third', null)} },
  })`

  test('are the root events, handed down through every hop', async () => {
    const id = await world.deploy(threeHops)
    await world.engine.pauseWorkflow(id)
    for (const messageId of ['a', 'b']) await world.engine.publishEvent(id, 'first', { messageId })
    await world.engine.resumeWorkflow(id)
    await world.settle()
    const [a, b, second, third] = events('id, message_id, caused_by, created_by_run_id')
    expect([a, b]).toMatchObject([
      { caused_by: '[]', created_by_run_id: null },
      { caused_by: '[]', created_by_run_id: null },
    ])
    const roots = JSON.stringify([a?.['id'], b?.['id']])
    expect([second, third]).toMatchObject([
      { message_id: 'a+b', caused_by: roots },
      { message_id: 'a+b', caused_by: roots },
    ])
  })
})
