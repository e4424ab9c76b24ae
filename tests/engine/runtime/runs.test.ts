import { beforeEach, describe, expect, test } from 'vitest'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, publishing, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

/** Two producers, of which one is due rarely, and a consumer. */
const twoProducers = (alpha = publishing('a')): string =>
  workflowScript({
    producers: {
      alpha: { handler: alpha },
      beta: { schedule: `{ interval: '1h' }`, handler: publishing('b') },
    },
    consumers: { carry: {} },
  })

/** The runs in order, each with its trigger, its result and the handlers it ran. */
const history = (): unknown[] =>
  world
    .rows(`SELECT id, "trigger", result FROM script_runs ORDER BY id`)
    .map(({ id, trigger, result }) => [
      trigger,
      result,
      world
        .rows(`SELECT handler_name FROM handler_runs WHERE script_run_id = ? ORDER BY id`, String(id))
        .map(({ handler_name }) => handler_name),
    ])

const openRuns = (): unknown => world.value(`SELECT count(*) FROM script_runs WHERE end_timestamp IS NULL`)

describe('a run', () => {
  test('runs its producers first, then its consumers until nothing is left', async () => {
    await world.deploy(twoProducers())
    await world.settle()
    expect(history()).toEqual([
      ['event', 'completed', ['carry']],
      ['schedule', 'completed', ['alpha', 'beta', 'carry', 'carry', 'carry']],
    ])
    expect(world.box.calls.map(({ params }) => params)).toEqual([{ messageId: 'a' }, { messageId: 'b' }])
  })

  test('stops when a handler fails: what would have come after it does not run', async () => {
    await world.deploy(twoProducers(`async handler() { throw new Error('alpha broke') }`))
    await world.settle()
    expect(history()).toEqual([
      ['event', 'completed', ['carry']],
      ['schedule', 'failed', ['alpha']],
    ])
    expect(world.value(`SELECT error FROM script_runs WHERE result = 'failed'`)).toContain('alpha broke')
    expect(world.engine.listWorkflows()).toMatchObject([{ state: 'needs_you', status: 'active' }])
  })

  test('stops when a handler is suspended, and the events behind it wait', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    world.box.answers.push(failed('network', 'uncertain'))
    await Promise.all([world.publish(id, 'm1'), world.publish(id, 'm2')])
    await world.settle()
    expect(history().at(-1)).toEqual(['event', 'suspended', ['carry']])
    expect(world.rows(`SELECT message_id, status FROM events ORDER BY id`)).toEqual([
      { message_id: 'm1', status: 'reserved' },
      { message_id: 'm2', status: 'pending' },
    ])
    expect(world.box.calls).toHaveLength(1)
  })

  test('is completed when there is no more work, with its end and its handlers counted', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    await world.publish(id)
    await world.settle()
    expect(
      world.rows(`SELECT result, error, handler_run_count, end_timestamp FROM script_runs ORDER BY id DESC LIMIT 1`),
    ).toEqual([{ result: 'completed', error: null, handler_run_count: 2, end_timestamp: world.clock.now() }])
  })

  test('whose budget is spent is completed, and the rest is carried by later runs', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    world.change(`UPDATE workflows SET budget = 3`)
    await world.engine.pauseWorkflow(id)
    for (let n = 1; n <= 7; n += 1) await world.publish(id, `m${String(n)}`)
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(history().slice(1)).toEqual([
      ['event', 'completed', ['carry', 'carry', 'carry']],
      ['event', 'completed', ['carry', 'carry', 'carry']],
      ['event', 'completed', ['carry', 'carry']],
    ])
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBe(7)
  })

  test('that was interrupted goes on after a restart and keeps counting its handlers', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    await world.engine.pauseWorkflow(id)
    for (const messageId of ['m1', 'm2', 'm3']) await world.publish(id, messageId)
    world.box.answers.push({ kind: 'ok', value: null }, 'never')
    await world.engine.resumeWorkflow(id)
    await world.until(() => world.box.calls.length === 2)
    const before = world.rows(`SELECT id, handler_run_count FROM script_runs WHERE end_timestamp IS NULL`)
    expect(before).toEqual([{ id: expect.any(String) as unknown, handler_run_count: 2 }])
    await world.crash()
    await world.resolve('did_not_happen')
    await world.settle()
    // m2 again, m3, and a look that finds nothing.
    expect(world.rows(`SELECT id, result, handler_run_count FROM script_runs ORDER BY id DESC LIMIT 1`)).toEqual([
      { id: before[0]?.['id'], result: 'completed', handler_run_count: 5 },
    ])
  })

  test('adds up the cost of its handler runs, of the failed ones too', async () => {
    const id = await world.deploy(
      consumerScript({
        prepare: `async prepare(state, ctx) {
          await ctx.box.get(1)
          const [event] = await ctx.topics.peek('item', { limit: 1 })
          return { reservations: event ? [{ topic: 'item', ids: [event.messageId] }] : [], data: 1 }
        }`,
        next: null,
      }),
    )
    await world.settle()
    world.box.answers.push(
      { kind: 'ok', value: 1, cost: 11 },
      { ...failed('network'), cost: 13 },
      { kind: 'ok', value: 1, cost: 17 },
      { kind: 'ok', value: 1, cost: 19 },
      { kind: 'ok', value: 1, cost: 23 },
    )
    await world.publish(id)
    await world.settle()
    world.clock.advance(2000)
    await world.settle()
    expect(
      world.rows(
        `SELECT cost, status FROM handler_runs WHERE script_run_id = (SELECT max(id) FROM script_runs) ORDER BY id`,
      ),
    ).toEqual([
      { cost: 24, status: 'paused:transient' },
      { cost: 36, status: 'committed' },
      { cost: 23, status: 'committed' },
    ])
    expect(world.value(`SELECT cost FROM script_runs ORDER BY id DESC LIMIT 1`)).toBe(83)
  })
})

describe('at most one handler of a workflow is active', () => {
  test('however many events arrive at once', async () => {
    const id = await world.deploy(
      workflowScript({
        producers: { alpha: { schedule: `{ interval: '30s' }`, handler: publishing('a') } },
        consumers: { carry: {}, other: {} },
      }),
    )
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await Promise.all(Array.from({ length: 10 }, (_, n) => world.publish(id, `m${String(n)}`)))
    await world.until(() => world.box.calls.length === 2)
    world.clock.advance(40_000)
    expect(world.value(`SELECT count(*) FROM handler_runs WHERE status = 'active'`)).toBe(1)
    held.give()
    await world.settle()
    expect(world.box.calls).toHaveLength(11)
    expect(world.engine.info().fatal).toBeNull()
  })

  test('and "Run now" is refused until it has finished', async () => {
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    const id = await world.deploy(twoProducers(`async handler(state, ctx) { await ctx.box.get(1) }`))
    await world.until(() => world.box.calls.length === 1)
    const before = world.dump()
    expect(await world.engine.runWorkflow(id)).toEqual({
      ok: false,
      error: { code: 'run_active', message: 'A handler of "flow" is running. Wait until it has finished.' },
    })
    expect(world.dump()).toBe(before)
    held.give()
    await world.settle()
    expect(await world.engine.runWorkflow(id)).toMatchObject({ ok: true })
  })

  test('and one that waits between two phases for its turn counts', async () => {
    world = await openTestEngine({ maxParallelWorkflows: 1 })
    const waiting = await world.deploy(
      consumerScript({
        prepare: `async prepare(state, ctx) {
          await ctx.box.get('prepare')
          const events = await ctx.topics.peek('item')
          return { reservations: [{ topic: 'item', ids: events.map((event) => event.messageId) }], data: 1 }
        }`,
      }),
    )
    await world.settle()
    const prepare = heldAnswer()
    world.box.answers.push(prepare.answer)
    await world.publish(waiting)
    await world.until(() => world.box.calls.length === 2)
    await world.engine.pauseWorkflow(waiting)
    const other = heldAnswer()
    world.box.answers.push(other.answer)
    await world.deploy(twoProducers(`async handler(state, ctx) { await ctx.box.get('other') }`))
    prepare.give()
    await world.until(() => world.box.calls.length === 3)
    await world.engine.resumeWorkflow(waiting)
    expect(world.rows(`SELECT phase FROM handler_runs WHERE status = 'active' ORDER BY id`)).toEqual([
      { phase: 'prepared' },
      { phase: 'executing' },
    ])
    expect(await world.engine.runWorkflow(waiting)).toMatchObject({ error: { code: 'run_active' } })
    other.give()
    await world.settle()
    expect(world.value(`SELECT status FROM events WHERE message_id = 'm1' AND workflow_id = ?`, waiting)).toBe(
      'consumed',
    )
  })

  test('and "Run now" is refused while the workflow is paused or needs a person, with the reason', async () => {
    const id = await world.deploy(twoProducers(`async handler() { throw new Error('alpha broke') }`))
    await world.settle()
    expect(await world.engine.runWorkflow(id)).toMatchObject({
      error: { code: 'workflow_blocked', message: expect.stringContaining('alpha broke') as unknown },
    })
    await world.engine.pauseWorkflow(id)
    expect(await world.engine.runWorkflow(id)).toMatchObject({
      error: { code: 'workflow_paused', message: '"flow" is paused. Resume it, then run it.' },
    })
  })
})

describe('what triggers a run', () => {
  test('is a person: then every producer runs, due or not', async () => {
    const id = await world.deploy(twoProducers())
    await world.settle()
    const started = await world.engine.runWorkflow(id)
    await world.settle()
    expect(history().slice(2)).toEqual([['manual', 'completed', ['alpha', 'beta', 'carry']]])
    expect(started).toEqual({ ok: true, value: { runId: world.value(`SELECT max(id) FROM script_runs`) } })
  })

  test('is a schedule: then only the producers run whose time has come', async () => {
    await world.deploy(twoProducers())
    await world.settle()
    world.clock.advance(5 * 60_000)
    await world.settle()
    expect(history().slice(2)).toEqual([['schedule', 'completed', ['alpha']]])
  })

  test('is an event: then no producer runs', async () => {
    const id = await world.deploy(twoProducers())
    await world.settle()
    await world.publish(id)
    await world.settle()
    expect(history().slice(2)).toEqual([['event', 'completed', ['carry', 'carry']]])
  })
})

describe('a retry', () => {
  test('belongs to the run of the attempt it retries, and reopens it', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    world.box.answers.push(failed('network'))
    await world.publish(id)
    await world.settle()
    expect(history().slice(1)).toEqual([['event', 'suspended', ['carry']]])
    world.clock.advance(2000)
    await world.settle()
    expect(history().slice(1)).toEqual([['event', 'completed', ['carry', 'carry', 'carry']]])
  })

  test('that falls due during another run completes that one first: at most one run is open', async () => {
    const id = await world.deploy(
      workflowScript({
        producers: { alpha: { handler: `async handler(state, ctx) { await ctx.box.get('alpha') }` } },
        consumers: { carry: { next: null } },
      }),
    )
    await world.settle()
    world.box.answers.push(failed('network'))
    await world.publish(id)
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.engine.runWorkflow(id)
    await world.until(() => world.box.calls.length === 3)
    world.clock.advance(2000)
    expect(openRuns()).toBe(1)
    held.give()
    await world.settle()
    expect(history().slice(2)).toEqual([
      ['event', 'completed', ['carry', 'carry', 'carry']],
      ['manual', 'completed', ['alpha']],
    ])
    expect(openRuns()).toBe(0)
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBe(1)
  })
})
