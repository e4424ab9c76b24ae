import { describe, expect, test, vi } from 'vitest'
import { openPlainEngine } from '../../support/plain-engine.ts'
import { heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript } from '../../support/scripts.ts'

const minute = 60_000

/** Counts its runs in the box and does nothing else. */
const counting = (name: string, schedule: string): string =>
  `${name}: { schedule: ${schedule}, async handler(state, ctx) { await ctx.box.get('${name}') } }`

const workflowOf = (parts: { name?: string; topics?: string; producers?: string; consumers?: string }): string => `
export default defineWorkflow({
  name: '${parts.name ?? 'timed'}',
  topics: { ${parts.topics ?? ''} },
  producers: { ${parts.producers ?? ''} },
  consumers: { ${parts.consumers ?? ''} },
})`

/** Takes one event of the topic and tells the box which consumer it was. */
const carrier = (name: string, topic: string): string => `${name}: {
  subscribe: ['${topic}'],
  async prepare(state, ctx) {
    const [event] = await ctx.topics.peek('${topic}', { limit: 1 })
    if (!event) return { reservations: [], data: {} }
    return { reservations: [{ topic: '${topic}', ids: [event.messageId] }], data: event.messageId }
  },
  async mutate(prepared, ctx) { await ctx.box.send('${name}') },
}`

const called = (world: TestEngine): unknown[] => world.box.calls.map(({ params }) => params)

const pass = async (world: TestEngine, ms: number): Promise<void> => {
  world.clock.advance(ms)
  await world.settle()
}

describe('in one workflow', () => {
  test('a retry whose time has come goes before consumers, and consumers before producers', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(
      workflowOf({
        topics: 'a: {}, b: {}',
        producers: counting('poll', `{ interval: '1m' }`),
        consumers: `${carrier('first', 'a')}, ${carrier('second', 'b')}`,
      }),
    )
    await world.settle()
    world.box.answers.push({ kind: 'failed', certainty: 'definite', failure: { type: 'network', message: 'Busy.' } })
    await world.engine.publishEvent(id, 'a', { messageId: 'x', payload: 1 })
    await world.settle()
    await world.engine.pauseWorkflow(id)
    await world.engine.publishEvent(id, 'b', { messageId: 'y', payload: 1 })
    world.clock.advance(10 * minute)
    world.box.calls.length = 0
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(called(world)).toEqual(['first', 'second', 'poll'])
  })

  test('among consumers the one with the oldest event is first, among producers the one that is due longest', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(
      workflowOf({
        topics: 'a: {}, b: {}',
        producers: `${counting('seldom', `{ interval: '3m' }`)}, ${counting('often', `{ interval: '2m' }`)}`,
        consumers: `${carrier('first', 'a')}, ${carrier('second', 'b')}`,
      }),
    )
    await world.settle()
    await world.engine.pauseWorkflow(id)
    await world.engine.publishEvent(id, 'b', { messageId: 'older', payload: 1 })
    await world.engine.publishEvent(id, 'a', { messageId: 'newer', payload: 1 })
    world.clock.advance(3.5 * minute)
    world.box.calls.length = 0
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(called(world)).toEqual(['second', 'first', 'often', 'seldom'])
  })

  test('nothing starts while a handler is active, and beats that fall due meanwhile are served once', async () => {
    const world = await openTestEngine()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.deploy(workflowOf({ producers: counting('poll', `{ interval: '1m' }`) }))
    await world.until(() => world.box.calls.length === 1)
    for (let i = 0; i < 5; i += 1) world.clock.advance(minute)
    await world.until(() => true)
    expect(world.box.calls).toHaveLength(1)
    held.give()
    await world.settle()
    expect(world.box.calls).toHaveLength(2)
  })

  test('a consumer that waits with events pending does not spin: it looks again at a new event or its own time', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(
      consumerScript({
        prepare: `async prepare(state, ctx) {
          const events = await ctx.topics.peek('item')
          if (events.length < 2) return { reservations: [], data: {}, wakeAt: new Date(ctx.now() + 3600000).toISOString() }
          return { reservations: [{ topic: 'item', ids: events.map((event) => event.messageId) }], data: events.length }
        }`,
      }),
    )
    await world.publish(id, 'one')
    await world.settle()
    const looks = () => Number(world.value('SELECT count(*) FROM handler_runs'))
    const before = looks()
    for (let i = 0; i < 5; i += 1) {
      world.engine.look()
      await pass(world, minute)
    }
    expect(looks()).toBe(before)
    await pass(world, 60 * minute)
    expect(looks()).toBe(before + 1)
    await world.publish(id, 'two')
    await world.settle()
    expect(world.rows('SELECT DISTINCT status FROM events WHERE caused_by = ?', '[]')).toEqual([{ status: 'consumed' }])
  })
})

describe('between workflows', () => {
  test('the one that has waited longest is first, and a greedy one cannot starve another', async () => {
    const world = await openTestEngine({ maxParallelWorkflows: 1 })
    const greedy = await world.deploy(
      workflowOf({ name: 'greedy', topics: 'a: {}', consumers: carrier('greedy', 'a') }),
    )
    const modest = await world.deploy(
      workflowOf({ name: 'modest', topics: 'a: {}', consumers: carrier('modest', 'a') }),
    )
    await world.settle()
    world.change(`UPDATE workflows SET budget = 5 WHERE id = ?`, greedy)
    await world.engine.pauseWorkflow(greedy)
    for (let n = 0; n < 50; n += 1) await world.engine.publishEvent(greedy, 'a', { messageId: String(n), payload: n })
    world.box.calls.length = 0
    await Promise.all([
      world.engine.resumeWorkflow(greedy),
      world.engine.publishEvent(modest, 'a', { messageId: 'only', payload: 1 }),
    ])
    await world.settle()
    expect(called(world)).toHaveLength(51)
    expect(called(world).indexOf('modest')).toBeLessThanOrEqual(5)
  })

  test('a workflow whose producer is always due again gives up its turn after each run', async () => {
    const world = await openTestEngine({ maxParallelWorkflows: 1 })
    const slow = (name: string) => workflowOf({ name, producers: counting(name, `{ interval: '10s' }`) })
    await world.deploy(slow('left'))
    await world.deploy(slow('right'))
    await world.settle()
    world.box.calls.length = 0
    const answers = Array.from({ length: 8 }, () => heldAnswer())
    world.box.answers.push(...answers.map(({ answer }) => answer))
    world.clock.advance(10_000)
    for (const [index, { give }] of answers.entries()) {
      await world.until(() => world.box.calls.length === index + 1)
      // Longer than the interval: when it ends, its next beat is due already.
      world.clock.advance(11_000)
      give()
    }
    await world.settle()
    expect(called(world).slice(0, 8)).toEqual(['left', 'right', 'left', 'right', 'left', 'right', 'left', 'right'])
  })

  test('as many run side by side as the limit allows, and the next one starts when one is done', async () => {
    const world = await openTestEngine({ maxParallelWorkflows: 3 })
    const answers = Array.from({ length: 5 }, () => heldAnswer())
    world.box.answers.push(...answers.map(({ answer }) => answer))
    for (let n = 0; n < 5; n += 1) {
      await world.deploy(
        workflowOf({ name: `w${String(n)}`, producers: counting(`w${String(n)}`, `{ interval: '1h' }`) }),
      )
    }
    await world.until(() => world.box.calls.length === 3)
    expect(world.value(`SELECT count(*) FROM handler_runs WHERE status = 'active'`)).toBe(3)
    answers[1]?.give()
    await world.until(() => world.box.calls.length === 4)
    expect(world.value(`SELECT count(*) FROM handler_runs WHERE status = 'active'`)).toBe(3)
    for (const { give } of answers) give()
    await world.settle()
    expect(called(world)).toEqual(['w0', 'w1', 'w2', 'w3', 'w4'])
  })
})

describe('waking up', () => {
  test('there is one timer, for the earliest of everything that is planned, and no polling', async () => {
    const world = await openTestEngine()
    const wakeAt = vi.spyOn(world.clock, 'wakeAt')
    await world.deploy(
      workflowOf({ producers: `${counting('a', `{ interval: '7m' }`)}, ${counting('b', `{ interval: '5m' }`)}` }),
    )
    await world.settle()
    const due = world.clock.now() + 5 * minute
    expect(world.engine.info().nextWakeAt).toBe(due)
    expect(world.engine.info().lastLookAt).toBe(world.clock.now())
    wakeAt.mockClear()
    world.clock.advance(4 * minute)
    await world.settle()
    world.box.calls.length = 0
    world.clock.advance(minute)
    await world.settle()
    expect(called(world)).toEqual(['b'])
  })

  test('a time that is further away than any timer reaches is still kept', async () => {
    const world = await openTestEngine()
    await world.deploy(workflowOf({ producers: counting('yearly', `{ interval: '300d' }`) }))
    await world.settle()
    world.box.calls.length = 0
    for (let day = 0; day < 299; day += 1) world.clock.advance(24 * 60 * minute)
    await world.settle()
    expect(world.box.calls).toHaveLength(0)
    await pass(world, 24 * 60 * minute)
    expect(world.box.calls).toHaveLength(1)
  })

  test('a look from outside finds what is due at once, also when the timer slept', async () => {
    const world = await openTestEngine()
    await world.deploy(workflowOf({ producers: counting('poll', `{ interval: '5m' }`) }))
    await world.settle()
    world.box.calls.length = 0
    world.clock.jump(3 * 60 * minute)
    expect(world.box.calls).toHaveLength(0)
    world.engine.look()
    await world.settle()
    expect(world.box.calls).toHaveLength(1)
  })

  test('after a closed tab each missed producer runs once and keeps its beat', async () => {
    const world = await openTestEngine()
    const start = world.clock.now()
    await world.deploy(
      workflowOf({ producers: `${counting('a', `{ interval: '5m' }`)}, ${counting('b', `{ cron: '0 * * * *' }`)}` }),
    )
    await world.settle()
    world.engine.stop()
    world.box.calls.length = 0
    world.clock.jump(7 * 60 * minute + 1000)
    await world.crash()
    await world.settle()
    expect(called(world).toSorted()).toEqual(['a', 'b'])
    expect(world.rows('SELECT producer_name, next_run_at FROM producer_schedules ORDER BY producer_name')).toEqual([
      { producer_name: 'a', next_run_at: start + (7 * 60 + 5) * minute },
      { producer_name: 'b', next_run_at: start + 8 * 60 * minute },
    ])
  })

  test('a clock that is set back a little serves no beat twice', async () => {
    const world = await openTestEngine()
    await world.deploy(workflowOf({ producers: counting('poll', `{ interval: '5m' }`) }))
    await pass(world, 5 * minute)
    expect(world.box.calls).toHaveLength(2)
    world.clock.jump(-2 * minute)
    world.engine.look()
    await pass(world, 2 * minute)
    expect(world.box.calls).toHaveLength(2)
    await pass(world, 5 * minute)
    expect(world.box.calls).toHaveLength(3)
  })
})

test('a look costs the same number of questions however many workflows are planned', async () => {
  const { engine, database } = await openPlainEngine()
  engine.start()
  const all = vi.spyOn(database, 'all')
  const questions = async (): Promise<number> => {
    await engine.idle()
    all.mockClear()
    engine.look()
    return all.mock.calls.length
  }
  const source = producerScript(`async handler() {}`)
  await engine.deployWorkflow({ source })
  const few = await questions()
  for (let n = 0; n < 50; n += 1) await engine.deployWorkflow({ source })
  expect(await questions()).toBe(few)
  expect(few).toBeLessThanOrEqual(8)
})
