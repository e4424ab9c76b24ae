import { beforeEach, describe, expect, test } from 'vitest'
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

/** What a handler may not have changed when it failed. */
const effects = (): string => world.dump('events', 'handler_state', 'mutations', 'producer_schedules', 'topics')

const failure = (): Record<string, unknown> | undefined =>
  world.rows(`SELECT status, error_type, error FROM handler_runs WHERE status <> 'committed'`)[0]

/** Deploys it paused, lets an event wait for it, and resumes: whatever it does wrong then must leave no trace but its failure. */
const runBadly = async (script: string): Promise<void> => {
  const id = await world.deploy(script)
  await world.settle()
  await world.engine.pauseWorkflow(id)
  await world.publish(id)
  const before = effects()
  await world.engine.resumeWorkflow(id)
  await world.settle()
  expect(effects()).toBe(before)
  expect(failure()).toMatchObject({ status: 'failed:logic', error_type: 'logic' })
  expect(world.questions()).toMatchObject([{ kind: 'logic_failure' }])
}

/** The first run of the producer is good, the second fails: nothing of it is left but its failure. */
const expectBadSecondRun = async (sentence: string): Promise<void> => {
  await world.settle()
  const before = effects()
  world.clock.advance(5 * 60_000)
  await world.settle()
  expect(failure()).toMatchObject({ status: 'failed:logic', error_type: 'logic' })
  expect(failure()?.['error']).toContain(sentence)
  expect(effects()).toBe(before)
  expect(world.value(`SELECT state FROM handler_state`)).toBe('"first"')
}

const whenThereIsWork = (statement: string): string =>
  consumerScript({
    prepare: `async prepare(state, ctx) {
      if ((await ctx.topics.peek('item')).length === 0) return { reservations: [] }
      ${statement}
    }`,
  })

const good = `reservations: [{ topic: 'item', ids: ['m1'] }], data: 1`
const deep = `let deep = 1; for (let i = 0; i < 600; i++) deep = [deep];`

describe('what prepare returns', () => {
  const returns: [string, string][] = [
    [`undefined`, 'prepare returned nothing. It must return { reservations:'],
    [`null`, 'prepare returned null.'],
    [`42`, 'prepare returned a number.'],
    [`'done'`, 'prepare returned a string.'],
    [`['m1']`, 'prepare returned an array.'],
    [`{}`, 'prepare returned no reservations.'],
    [`{ reservations: null }`, 'prepare returned reservations that are null.'],
    [`{ reservations: { topic: 'item', ids: ['m1'] } }`, 'prepare returned reservations that are an object.'],
    [
      `{ reservations: ['m1'] }`,
      'prepare returned reservations[0] as a string. Each reservation is { topic, ids: [messageId] }.',
    ],
    [`{ reservations: [{ ids: ['m1'] }] }`, 'prepare returned reservations[0] without topic.'],
    [`{ reservations: [{ topic: 7, ids: ['m1'] }] }`, 'prepare returned reservations[0] whose topic is a number.'],
    [
      `{ reservations: [{ topic: 'done', ids: ['m1'] }] }`,
      'prepare reserved events of the topic "done", which this consumer does not subscribe to',
    ],
    [`{ reservations: [{ topic: 'item' }] }`, 'prepare returned reservations[0] without ids.'],
    [`{ reservations: [{ topic: 'item', ids: 'm1' }] }`, 'prepare returned reservations[0] whose ids are a string.'],
    [`{ reservations: [{ topic: 'item', ids: ['m1', 3] }] }`, 'prepare returned reservations[0].ids[1] as a number.'],
    [`{ reservations: [{ topic: 'item', ids: [''] }] }`, 'prepare returned reservations[0].ids[0] as an empty string.'],
    [
      `{ reservations: [{ topic: 'item', ids: ['m1', 'm1'] }] }`,
      'prepare reserved the event "m1" of the topic "item" twice.',
    ],
    [`{ reservations: [{ topic: 'item', ids: ['m2'] }] }`, 'no event with this id was ever published there'],
    [`{ ${good}, wakeAt: 1770000000000 }`, 'wakeAt is a number. It must be an ISO 8601 string'],
    [`{ ${good}, wakeAt: 'tomorrow' }`, 'wakeAt "tomorrow" is not an ISO 8601 time'],
    [`{ ${good}, wakeAt: '2026-02-31T09:00:00Z' }`, 'wakeAt "2026-02-31T09:00:00Z" is not an ISO 8601 time'],
    [`{ ${good}, wakeAt: '2026-02-01T09:00:00' }`, 'does not say which time zone it means'],
    [`{ ${good}, ui: 'title' }`, 'prepare returned a ui that is a string.'],
    [`{ ${good}, ui: { title: 5 } }`, 'prepare returned a ui.title that is a number.'],
    [`{ ${good}, data: 10n }`, 'BigInt'],
    [`(() => 1)`, 'The handler returned a function, which cannot be written as JSON.'],
    [`(() => { const round = { ${good} }; round.self = round; return round })()`, 'circular reference'],
    [`(() => { ${deep} return { ${good}, deep } })()`, 'What prepare returned is nested more than 500 levels deep.'],
  ]

  test.each(returns)('%s is refused by name, and nothing is reserved', async (value, sentence) => {
    await runBadly(whenThereIsWork(`return ${value}`))
    expect(failure()?.['error']).toContain(sentence)
  })
})

describe('what is asked of topics', () => {
  const calls: [string, string][] = [
    [`peek()`, 'topics.peek: the first argument is nothing. It must be the name of a topic.'],
    [`peek('item', 5)`, 'topics.peek: the second argument is a number, not an object { limit }.'],
    [`peek('item', { limit: 0 })`, 'topics.peek: the limit is 0. It must be a whole number from 1 to 1000.'],
    [`peek('item', { limit: 1.5 })`, 'topics.peek: the limit is 1.5.'],
    [`peek('item', { limit: '5' })`, 'topics.peek: the limit is a string.'],
    [`peek('item', { limit: 1001 })`, 'topics.peek: the limit is 1001.'],
    [`getByIds('item')`, 'topics.getByIds: the ids are nothing, not an array of message ids.'],
    [`getByIds('item', 'm1')`, 'topics.getByIds: the ids are a string, not an array of message ids.'],
    [`getByIds('item', [null])`, 'topics.getByIds: ids[0] is null.'],
  ]

  test.each(calls)('%s is refused by name', async (call, sentence) => {
    await runBadly(whenThereIsWork(`await ctx.topics.${call}; return { reservations: [] }`))
    expect(failure()?.['error']).toContain(sentence)
  })
})

describe('what is published', () => {
  const calls: [string, string][] = [
    [`publish()`, 'topics.publish: the first argument is nothing. It must be the name of a topic.'],
    [`publish(5, { messageId: 'a' })`, 'topics.publish: the first argument is a number.'],
    [
      `publish('nowhere', { messageId: 'a' })`,
      'topics.publish: the topic "nowhere" is not among the topics that this handler declares in publishes ("item").',
    ],
    [`publish('item')`, 'topics.publish: the event is nothing, not an object { messageId, title, payload }.'],
    [`publish('item', 'a')`, 'topics.publish: the event is a string'],
    [`publish('item', {})`, 'topics.publish: the event has no messageId.'],
    [
      `publish('item', { messageId: 7 })`,
      'topics.publish: the messageId is a number, not a string. Use String(…) to make it one.',
    ],
    [`publish('item', { messageId: '' })`, 'topics.publish: the messageId is an empty string.'],
    [
      `publish('item', { messageId: 'x'.repeat(513) })`,
      'topics.publish: the messageId is 513 characters long; at most 512 are allowed.',
    ],
    [
      `publish('item', { messageId: 'a\\u0000b' })`,
      'topics.publish: the messageId contains a character that cannot be stored',
    ],
    [`publish('item', { messageId: 'a', title: {} })`, 'topics.publish: the title is an object, not a string.'],
    [
      `publish('item', { messageId: 'a', payload: deep })`,
      'topics.publish: an argument is nested more than 500 levels deep.',
    ],
    [`publish('item', { messageId: 'a', payload: 10n })`, 'BigInt'],
  ]

  test.each(calls)(
    '%s is refused by name, and what was published before it is not there either',
    async (call, sentence) => {
      await world.deploy(
        producerScript(`async handler(state, ctx) {
          if (state === null) return 'first'
          ${deep}
          await ctx.topics.publish('item', { messageId: 'before' })
          await ctx.topics.${call}
        }`),
      )
      await expectBadSecondRun(sentence)
    },
  )
})

describe('the state that is returned', () => {
  const states: [string, string][] = [
    [`() => 1`, 'The handler returned a function'],
    [`Symbol('x')`, 'The handler returned a symbol'],
    [`10n`, 'BigInt'],
    [`(() => { const round = {}; round.self = round; return round })()`, 'circular reference'],
    [`(() => { ${deep} return deep })()`, 'What producer returned is nested more than 500 levels deep.'],
    [`'x'.repeat(2000)`, 'The handler returned 2 KiB of state; at most 1 KiB are kept.'],
  ]

  test.each(states)('%s is refused by name, and the state before it stays', async (value, sentence) => {
    world = await openTestEngine({ maxStateBytes: 1024 })
    await world.deploy(producerScript(`async handler(state) { if (state === null) return 'first'; return ${value} }`))
    await expectBadSecondRun(sentence)
  })
})
