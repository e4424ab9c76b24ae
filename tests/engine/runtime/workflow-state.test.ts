import { beforeEach, describe, expect, test } from 'vitest'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishTwo, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const minutes = 60_000
const state = (): unknown => world.engine.listWorkflows()[0]?.state
const polls = (): number => world.box.calls.length
const poll = producerScript(`async handler(state, ctx) { await ctx.box.get('poll') }`)

/** A consumer whose prepare waits for the box. */
const slowPrepare = consumerScript({
  prepare: `async prepare(state, ctx) {
    const events = await ctx.topics.peek('item')
    if (events.length > 0) await ctx.box.get('prepare')
    return { reservations: [{ topic: 'item', ids: events.map((event) => event.messageId) }], data: 1 }
  }`,
})

describe('one word says how a workflow is', () => {
  test('draft until it is resumed, running while a handler runs, idle after', async () => {
    const deployed = await world.engine.deployWorkflow({ source: poll, activate: false })
    const id = deployed.ok ? deployed.value.workflowId : ''
    await world.settle()
    expect(state()).toBe('draft')
    expect(polls()).toBe(0)
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.engine.resumeWorkflow(id)
    await world.until(() => polls() === 1)
    expect(state()).toBe('running')
    held.give()
    await world.settle()
    expect(state()).toBe('idle')
  })

  test('retrying while it waits to try again, needs_you while a person is asked, paused, archived', async () => {
    world.box.answers.push(failed('network'), failed('auth'))
    const id = await world.deploy(poll)
    await world.settle()
    expect(state()).toBe('retrying')
    world.clock.advance(2000)
    await world.settle()
    expect(state()).toBe('needs_you')
    await world.engine.pauseWorkflow(id)
    expect(state()).toBe('paused')
    await world.engine.archiveWorkflow(id)
    expect(state()).toBe('archived')
  })

  test.each([
    ['pauseWorkflow', 'draft', 'A workflow that is "draft" cannot take "paused"'],
    ['restoreWorkflow', 'active', 'A workflow that is "active" cannot take "restored"'],
    ['resumeWorkflow', 'active', 'A workflow that is "active" cannot take "activated"'],
    [
      'resumeWorkflow',
      'archived',
      'A workflow that is "archived" cannot take "activated"; from there only "restored" can follow.',
    ],
  ] as const)('%s is refused when it is %s', async (command, from, sentence) => {
    const deployed = await world.engine.deployWorkflow({ source: poll, activate: from !== 'draft' })
    const id = deployed.ok ? deployed.value.workflowId : ''
    if (from === 'archived') await world.engine.archiveWorkflow(id)
    await world.settle()
    const before = world.dump()
    const refused = await world.engine[command](id)
    expect(refused).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
    expect(!refused.ok && refused.error.message).toContain(sentence)
    expect(world.dump()).toBe(before)
  })
})

describe('while it is paused', () => {
  test('nothing starts; what came meanwhile is remembered and done once when it is resumed', async () => {
    const id = await world.deploy(
      workflowScript({
        producers: { poll: { handler: `async handler(s, ctx) { await ctx.box.get('poll') }` } },
        consumers: { carry: {} },
      }),
    )
    await world.settle()
    await world.engine.pauseWorkflow(id)
    for (let n = 0; n < 5; n += 1) world.clock.advance(5 * minutes)
    await world.publish(id)
    await world.settle()
    expect(polls()).toBe(1)
    expect(world.value(`SELECT status FROM events`)).toBe('pending')
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.box.calls.map(({ method }) => method)).toEqual(['get', 'send', 'get'])
    expect(world.value(`SELECT status FROM events`)).toBe('consumed')
  })

  test('the phase in hand is finished, and the attempt waits before the next one', async () => {
    const id = await world.deploy(slowPrepare)
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id)
    await world.until(() => polls() === 1)
    await world.engine.pauseWorkflow(id)
    held.give()
    await world.settle()
    expect(world.rows(`SELECT phase, status FROM handler_runs ORDER BY id DESC LIMIT 1`)).toEqual([
      { phase: 'prepared', status: 'active' },
    ])
    expect(world.value(`SELECT count(*) FROM script_runs WHERE end_timestamp IS NULL`)).toBe(1)
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.rows(`SELECT attempt, status FROM handler_runs WHERE prepare_result LIKE '%m1%'`)).toEqual([
      { attempt: 1, status: 'committed' },
    ])
  })

  test('a mutation that is under way comes to its recorded end', async () => {
    const id = await world.deploy(consumerScript())
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id)
    await world.until(() => polls() === 1)
    await world.engine.pauseWorkflow(id)
    held.give()
    await world.settle()
    expect(world.value(`SELECT status FROM mutations`)).toBe('applied')
    expect(world.rows(`SELECT phase, status FROM handler_runs ORDER BY id DESC LIMIT 1`)).toEqual([
      { phase: 'mutated', status: 'active' },
    ])
    await world.crash()
    await world.settle()
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.value(`SELECT status FROM events WHERE caused_by = '[]'`)).toBe('consumed')
    expect(polls()).toBe(1)
  })
})

describe('while it is blocked', () => {
  test('nothing starts, triggers are remembered, and resuming does not clear the block', async () => {
    world.box.answers.push(failed('auth'))
    const id = await world.deploy(
      workflowScript({
        producers: { poll: { handler: `async handler(s, ctx) { await ctx.box.get('poll') }` } },
        consumers: { carry: {} },
      }),
    )
    await world.settle()
    world.clock.advance(20 * minutes)
    await world.publish(id)
    await world.engine.pauseWorkflow(id)
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(state()).toBe('needs_you')
    expect(polls()).toBe(1)
    await world.resolve('reconnect')
    await world.settle()
    expect(world.box.calls.map(({ method }) => method)).toEqual(['get', 'get', 'send'])
    expect(state()).toBe('idle')
  })
})

describe('archived', () => {
  test('nothing of it runs, no new version can be deployed; restored it is paused, resumed it goes on', async () => {
    const id = await world.deploy(poll)
    await world.settle()
    await world.engine.archiveWorkflow(id)
    world.clock.advance(20 * minutes)
    await world.settle()
    expect(polls()).toBe(1)
    expect(await world.engine.deployWorkflow({ workflowId: id, source: poll })).toMatchObject({
      error: {
        code: 'illegal_transition',
        message: '"source" is archived. Restore it before you deploy a new version.',
      },
    })
    await world.engine.restoreWorkflow(id)
    expect(state()).toBe('paused')
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(polls()).toBe(2)
  })

  test('in the middle of a phase, it goes on from there once it is back', async () => {
    const id = await world.deploy(slowPrepare)
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id)
    await world.until(() => polls() === 1)
    await world.engine.archiveWorkflow(id)
    held.give()
    await world.settle()
    expect(world.value(`SELECT status FROM events`)).toBe('reserved')
    await world.engine.restoreWorkflow(id)
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.value(`SELECT status FROM events WHERE caused_by = '[]'`)).toBe('consumed')
  })
})

describe('deleted', () => {
  const nothingLeft = (id: string): void => {
    for (const { name } of world.rows(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%workflow_id%'`,
    )) {
      expect(world.value(`SELECT count(*) FROM ${String(name)} WHERE workflow_id = ?`, id), String(name)).toBe(0)
    }
    expect(world.engine.listWorkflows()).toEqual([])
  }

  test('everything it owned is gone, and nobody knows it any more', async () => {
    const id = await world.deploy(consumerScript())
    await world.publish(id)
    await world.settle()
    expect(await world.engine.deleteWorkflow(id)).toEqual({ ok: true, value: null })
    nothingLeft(id)
    for (const command of [
      'pauseWorkflow',
      'resumeWorkflow',
      'archiveWorkflow',
      'restoreWorkflow',
      'deleteWorkflow',
      'runWorkflow',
    ] as const) {
      expect(await world.engine[command](id)).toEqual({
        ok: false,
        error: { code: 'not_found', message: `There is no workflow "${id}".` },
      })
    }
  })

  test.each([
    ['the producer', poll, false],
    ['prepare', slowPrepare, true],
    ['the mutation', consumerScript(), true],
  ])('in the middle of %s, what comes back finds nobody, and the engine goes on', async (_, script, needsEvent) => {
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    const id = await world.deploy(script)
    if (needsEvent) await world.publish(id)
    await world.until(() => polls() === 1)
    await world.engine.deleteWorkflow(id)
    held.give()
    await world.settle()
    nothingLeft(id)
    expect(world.engine.info()).toMatchObject({ state: 'running', fatal: null })
    await world.deploy(producerScript(publishTwo))
    await world.settle()
    expect(world.value(`SELECT count(*) FROM events`)).toBe(2)
  })
})

describe('a new version', () => {
  test('that arrives in the middle of a phase leaves the attempt to its own version', async () => {
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    const id = await world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get(1); return 'v1' }`))
    await world.until(() => polls() === 1)
    await world.engine.deployWorkflow({ workflowId: id, source: producerScript(`async handler() { return 'v2' }`) })
    held.give()
    await world.settle()
    expect(world.rows(`SELECT output_state FROM handler_runs`)).toEqual([{ output_state: '"v1"' }])
    world.clock.advance(5 * minutes)
    await world.settle()
    expect(world.value(`SELECT state FROM handler_state`)).toBe('"v2"')
  })

  test('keeps the beat of a schedule that did not change, makes new ones due now and drops removed ones', async () => {
    const three = (alpha: string, names: string[]): string =>
      workflowScript({
        producers: Object.fromEntries(
          names.map((name) => [
            name,
            { schedule: name === 'alpha' ? alpha : `{ interval: '5m' }`, handler: 'async handler() {}' },
          ]),
        ),
      })
    const id = await world.deploy(three(`{ interval: '5m' }`, ['alpha', 'beta', 'gamma']))
    await world.settle()
    world.clock.advance(1 * minutes)
    await world.engine.pauseWorkflow(id)
    await world.engine.deployWorkflow({
      workflowId: id,
      source: three(`{ interval: '1h' }`, ['alpha', 'beta', 'delta']),
      activate: false,
    })
    const now = world.clock.now()
    expect(
      world.rows(`SELECT producer_name, next_run_at - ? AS due FROM producer_schedules ORDER BY producer_name`, now),
    ).toEqual([
      { producer_name: 'alpha', due: 0 },
      { producer_name: 'beta', due: 4 * minutes },
      { producer_name: 'delta', due: 0 },
    ])
  })

  test('lets a consumer that looked before look once more, also when the tab dies right after the deployment', async () => {
    const looking = (n: number): string =>
      consumerScript({
        prepare: `async prepare(state, ctx) { await ctx.box.get(${String(n)}); return { reservations: [], data: {} } }`,
      })
    const looks = (): unknown[] => world.box.calls.map(({ params }) => params)
    const id = await world.deploy(looking(1))
    await world.settle()
    await world.engine.pauseWorkflow(id)
    await world.engine.deployWorkflow({ workflowId: id, source: looking(2), activate: false })
    await world.crash()
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(looks()).toEqual([1, 2])
    world.clock.advance(5 * minutes)
    await world.crash()
    await world.settle()
    expect(looks()).toEqual([1, 2])
  })
})
