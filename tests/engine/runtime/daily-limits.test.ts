import { describe, expect, test } from 'vitest'
import { dayMs, limitedBy } from '#engine/runtime/daily-limits.ts'
import { consumerScript, producerScript, workflowScript } from '../../support/scripts.ts'
import { answered, failed, openTestEngine, type TestEngine } from '../../support/test-engine.ts'

const itemTopic = `(SELECT id FROM topics WHERE name = 'item')`
const takeDone = `async prepare(state, ctx) {
  const events = await ctx.topics.peek('done')
  return { reservations: events.length === 0 ? [] : [{ topic: 'done', ids: events.map((event) => event.messageId) }], data: {} }
}`
const hourMs = dayMs / 24

const publishMany = async (world: TestEngine, id: string, count: number, from = 0): Promise<void> => {
  for (let n = from; n < from + count; n += 1) await world.publish(id, `m${String(n)}`, { n })
  await world.settle()
}
const sent = (world: TestEngine): number => world.box.calls.filter(({ method }) => method === 'send').length
const limitedOf = (world: TestEngine, id: string) => limitedBy(world.store, id, world.clock.now())

describe('mutations per day', () => {
  test('that are used up leave the events pending, and go on by themselves when the oldest is a day ago', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(consumerScript())
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 2 } })
    await publishMany(world, id, 1)
    world.clock.advance(hourMs)
    await publishMany(world, id, 4, 1)
    expect(sent(world)).toBe(2)
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'pending' AND topic_id = ${itemTopic}`)).toBe(3)
    expect(world.questions()).toEqual([])
    expect(limitedOf(world, id)).toMatchObject({
      message: expect.stringContaining('The 2 mutations that this workflow may make in 24 hours were made.') as unknown,
    })

    world.clock.advance(dayMs - hourMs - 1)
    await world.settle()
    expect(sent(world)).toBe(2)
    world.clock.advance(1)
    await world.settle()
    expect(sent(world)).toBe(3)
    world.clock.advance(hourMs)
    await world.settle()
    expect(sent(world)).toBe(4)
    world.clock.advance(dayMs)
    await world.settle()
    expect(sent(world)).toBe(5)
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'pending' AND topic_id = ${itemTopic}`)).toBe(0)
  })

  test('go on at once when the limit is raised or taken away', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(consumerScript())
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
    await publishMany(world, id, 4)
    expect(sent(world)).toBe(1)
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 3 } })
    await world.settle()
    expect(sent(world)).toBe(3)
    await world.engine.changeWorkflow(id, { limits: {} })
    await world.settle()
    expect(sent(world)).toBe(4)
    expect(limitedOf(world, id)).toBeNull()
  })

  test('hold back only what would make one: producers and other consumers go on', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(
      workflowScript({
        producers: { poll: { handler: `async handler(state, ctx) { await ctx.box.get(1) }` } },
        consumers: { send: {}, look: { subscribe: ['done'], prepare: takeDone, mutate: null } },
      }),
    )
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
    await publishMany(world, id, 2)
    expect(sent(world)).toBe(1)
    const reads = world.box.calls.length
    expect(await world.engine.publishEvent(id, 'done', { messageId: 'd', payload: {} })).toMatchObject({ ok: true })
    world.clock.advance(5 * 60_000)
    await world.settle()
    expect(world.box.calls.length).toBeGreaterThan(reads)
    expect(world.value(`SELECT status FROM events WHERE message_id = 'd'`)).toBe('consumed')
    expect(sent(world)).toBe(1)
  })

  test('count what may have happened, not what certainly did not', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(consumerScript())
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
    world.box.answers.push(failed('network'), failed('network', 'uncertain'))
    await publishMany(world, id, 2)
    world.clock.advance(10_000)
    await world.settle()
    expect(world.rows('SELECT status FROM mutations ORDER BY id')).toEqual([
      { status: 'failed' },
      { status: 'indeterminate' },
    ])
    await world.resolve('skip')
    await world.settle()
    expect(sent(world)).toBe(2)
    expect(limitedOf(world, id)).not.toBeNull()
  })

  test('that were lowered while a script ran refuse the mutation before it is sent, and it is made later', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(consumerScript())
    await publishMany(world, id, 1)
    await world.publish(id, 'late')
    world.onReach = (point) => {
      if (point !== 'before_script') return
      world.onReach = null
      void world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
    }
    await world.settle()
    expect(sent(world)).toBe(1)
    world.clock.advance(dayMs)
    await world.settle()
    expect(sent(world)).toBe(2)
    expect(world.value(`SELECT status FROM events WHERE message_id = 'late'`)).toBe('consumed')
  })

  test('are kept across a crash', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(consumerScript())
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
    await publishMany(world, id, 2)
    await world.crash()
    await world.settle()
    expect(sent(world)).toBe(1)
    world.clock.advance(dayMs)
    await world.settle()
    expect(sent(world)).toBe(2)
  })
})

describe('cost per day', () => {
  const asking = producerScript(`async handler(state, ctx) {
    for (let i = 0; i < (state?.asks ?? 1); i++) await ctx.box.get(i)
    return { asks: 3 }
  }`)

  test('that is spent stops the next call that would cost, and everything new, until the day has passed', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(asking)
    await world.settle()
    await world.engine.changeWorkflow(id, { limits: { costPerDay: 10 } })
    await world.engine.runWorkflow(id)
    await world.settle()
    // Five were spent before; one more call reaches ten, the one after is refused.
    expect(world.box.calls).toHaveLength(2)
    expect(world.rows('SELECT status, error_type FROM handler_runs ORDER BY id DESC LIMIT 1')).toEqual([
      { status: 'paused:transient', error_type: 'network' },
    ])
    expect(await world.engine.runWorkflow(id)).toMatchObject({
      ok: false,
      error: {
        code: 'workflow_blocked',
        message: expect.stringContaining('may cost in 24 hours are spent') as unknown,
      },
    })
    world.clock.advance(hourMs)
    await world.settle()
    expect(world.box.calls).toHaveLength(2)

    await world.engine.changeWorkflow(id, { limits: { costPerDay: 1_000 } })
    await world.settle()
    expect(world.value('SELECT status FROM handler_runs ORDER BY id DESC LIMIT 1')).toBe('committed')
  })

  test('frees by itself, and the run that was cut short goes on', async () => {
    const world = await openTestEngine()
    const id = await world.deploy(
      workflowScript({
        producers: {
          dear: { schedule: `{ interval: '3d' }`, handler: 'async handler(state, ctx) { await ctx.box.get(1) }' },
          cheap: { schedule: `{ interval: '3d' }`, handler: 'async handler(state, ctx) { await ctx.box.get(2) }' },
        },
      }),
    )
    await world.settle()
    await world.engine.changeWorkflow(id, { limits: { costPerDay: 11 } })
    world.box.answers.push({ ...answered(), cost: 50 })
    await world.engine.runWorkflow(id)
    await world.settle()
    expect(world.box.calls).toHaveLength(3)
    await world.crash()
    await world.settle()
    expect(world.box.calls).toHaveLength(3)
    world.clock.advance(dayMs)
    await world.settle()
    expect(world.box.calls).toHaveLength(4)
    expect(world.value('SELECT count(*) FROM script_runs WHERE end_timestamp IS NULL')).toBe(0)
  })
})

test('what waits past its mutation is finished whatever is used up', async () => {
  const world = await openTestEngine()
  const id = await world.deploy(
    consumerScript({ next: `async next(prepared, mutation, ctx) { if (!globalThis.ok) throw new Error('not yet') }` }),
  )
  await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
  await publishMany(world, id, 1)
  const mended = await world.engine.deployWorkflow({ workflowId: id, source: consumerScript() })
  expect(mended.ok).toBe(true)
  await world.resolve('retry')
  await world.settle()
  expect(world.value(`SELECT status FROM events WHERE message_id = 'm0' LIMIT 1`)).toBe('consumed')
})
