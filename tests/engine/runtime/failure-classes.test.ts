import { beforeEach, describe, expect, test } from 'vitest'
import type { FailureType } from '#engine/model/errors.ts'
import { failed, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishing, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const runs = (columns: string): Record<string, unknown>[] =>
  world.rows(`SELECT ${columns} FROM handler_runs ORDER BY id`)

const reading = producerScript(`async handler(state, ctx) { await ctx.box.get('poll') }`)

describe('a read that fails and is not caught keeps its class', () => {
  const classes: [FailureType, string, string | null, string][] = [
    ['network', 'paused:transient', null, 'suspended'],
    ['auth', 'paused:approval', 'auth', 'suspended'],
    ['permission', 'paused:approval', 'permission', 'suspended'],
    ['logic', 'failed:logic', 'logic_failure', 'failed'],
    ['internal', 'failed:internal', 'internal_failure', 'failed'],
  ]

  test.each(classes)('%s', async (type, status, asked, result) => {
    world.box.answers.push(failed(type))
    const id = await world.deploy(reading)
    await world.settle()
    expect(runs('phase, status, error_type, error')).toEqual([
      { phase: 'executing', status, error_type: type, error: `The box said ${type}.` },
    ])
    expect(world.questions().map(({ kind }) => kind)).toEqual(asked === null ? [] : [asked])
    expect(world.value(`SELECT block_kind FROM workflows`)).toBe(asked)
    expect(world.value(`SELECT result FROM script_runs`)).toBe(result)
    expect(world.engine.listWorkflows()).toMatchObject([{ id, state: asked === null ? 'retrying' : 'needs_you' }])
  })

  test.each(['throw', 'throw at once'] as const)(
    'a tool that breaks (%s) is internal, never the script',
    async (answer) => {
      world.box.answers.push(answer)
      await world.deploy(reading)
      await world.settle()
      expect(runs('status, error')).toEqual([
        { status: 'failed:internal', error: 'box.get failed inside Holdfast: The lid fell off.' },
      ])
    },
  )

  test('also after it was caught and thrown again', async () => {
    world.box.answers.push(failed('auth'))
    await world.deploy(
      producerScript(`async handler(state, ctx) { try { await ctx.box.get(1) } catch (error) { throw error } }`),
    )
    await world.settle()
    expect(runs('error_type')).toEqual([{ error_type: 'auth' }])
  })
})

test('a read error that the script catches is like any error: the handler goes on', async () => {
  world.box.answers.push(failed('network'), failed('auth'), 'throw')
  await world.deploy(
    producerScript(`async handler(state, ctx) {
      const seen = []
      for (let i = 0; i < 3; i++) try { await ctx.box.get(i) } catch (error) { seen.push(error.type + ': ' + (error instanceof Error)) }
      return seen
    }`),
  )
  await world.settle()
  expect(runs('status, output_state')).toEqual([
    { status: 'committed', output_state: '["network: true","auth: true","internal: true"]' },
  ])
  expect(world.questions()).toEqual([])
})

describe('the fault of the script', () => {
  test.each([
    ['throws', `async handler() { throw new TypeError('x is not y') }`, 'x is not y'],
    ['rejects with a word', `async handler() { return Promise.reject('because') }`, 'because'],
    ['uses what is not there', `async handler(state, ctx) { ctx.nothing.here() }`, "cannot read property 'here'"],
    ['waits for ever', `async handler() { await new Promise(() => {}) }`, 'waits for something that can never happen'],
    ['forgets to await', `async handler(state, ctx) { ctx.box.get(1) }`, 'box.get'],
  ])('that %s is a logic failure with its line', async (_, handler, message) => {
    await world.deploy(producerScript(handler))
    await world.settle()
    const [run] = runs('status, error_type, error')
    expect(run).toMatchObject({ status: 'failed:logic', error_type: 'logic' })
    expect(run?.['error']).toContain(message)
    expect(world.questions()).toMatchObject([
      { kind: 'logic_failure', details: { handlerName: 'poll', phase: 'executing' } },
    ])
  })

  test('of a class it made up itself is still only logic', async () => {
    await world.deploy(
      producerScript(
        `async handler() { throw Object.assign(new Error('trust me'), { type: 'internal', retryAfterMs: 5 }) }`,
      ),
    )
    await world.settle()
    expect(runs('status')).toEqual([{ status: 'failed:logic' }])
  })
})

describe('what escapes our own code', () => {
  test('is internal, keeps the phase, releases the events and comes with a report', async () => {
    const id = await world.deploy(consumerScript())
    await world.settle()
    world.change(
      `CREATE TRIGGER broken BEFORE INSERT ON mutations BEGIN SELECT RAISE(ABORT, 'the ledger is stuck'); END`,
    )
    await world.publish(id)
    await world.settle()
    expect(world.rows(`SELECT phase, status, error FROM handler_runs WHERE prepare_result LIKE '%m1%'`)).toEqual([
      {
        phase: 'mutating',
        status: 'failed:internal',
        error: 'Phase "mutating" of "carry" failed inside Holdfast: the ledger is stuck',
      },
    ])
    expect(world.questions()).toMatchObject([
      {
        kind: 'internal_failure',
        actions: ['retry'],
        details: { stack: expect.stringContaining('the ledger is stuck') as unknown },
      },
    ])
    expect(world.value(`SELECT status FROM events`)).toBe('pending')
    expect(world.box.calls).toEqual([])
    world.change(`DROP TRIGGER broken`)
    await world.resolve('retry')
    await world.settle()
    expect(world.value(`SELECT status FROM events WHERE message_id = 'm1' AND caused_by = '[]'`)).toBe('consumed')
  })

  test('after the call leaves the outcome open: a person is asked, with all the evidence', async () => {
    const id = await world.deploy(consumerScript())
    await world.settle()
    world.change(
      `CREATE TRIGGER broken BEFORE UPDATE ON mutations WHEN NEW.status = 'applied' BEGIN SELECT RAISE(ABORT, 'stuck'); END`,
    )
    await world.publish(id)
    await world.settle()
    expect(world.value(`SELECT status FROM mutations`)).toBe('indeterminate')
    expect(world.questions()).toMatchObject([
      {
        kind: 'indeterminate_mutation',
        details: {
          tool: 'box.send',
          params: { n: 1 },
          idempotencyKey: world.box.calls[0]?.key,
          whereToCheck: 'Open the box.',
        },
      },
    ])
    expect(world.box.calls).toHaveLength(1)
  })
})

describe('a retry after an edit', () => {
  const broken = consumerScript({ mutate: `async mutate() { throw new Error('v1 broke') }` })

  test('runs the new version from the start when nothing was changed outside yet', async () => {
    const id = await world.deploy(broken)
    await world.publish(id)
    await world.settle()
    expect(await world.engine.deployWorkflow({ workflowId: id, source: consumerScript() })).toMatchObject({
      ok: true,
      value: { version: 2 },
    })
    await world.settle()
    // A new version alone settles nothing.
    expect(world.engine.listWorkflows()).toMatchObject([{ state: 'needs_you', version: 2 }])
    await world.resolve('retry')
    await world.settle()
    expect(world.box.calls).toHaveLength(1)
    expect(
      world.rows(
        `SELECT status, s.version FROM handler_runs h JOIN scripts s ON s.id = h.script_id WHERE retry_of IS NOT NULL`,
      ),
    ).toEqual([{ status: 'committed', version: 2 }])
  })

  test('that took the producer away ends as cancelled, and the workflow goes on', async () => {
    const id = await world.deploy(producerScript(`async handler() { throw new Error('v1 broke') }`))
    await world.settle()
    const renamed = workflowScript({ producers: { pollMail: { handler: publishing('a') } } })
    await world.engine.deployWorkflow({ workflowId: id, source: renamed })
    await world.resolve('retry')
    await world.settle()
    expect(runs('handler_name, status, error')).toEqual([
      { handler_name: 'poll', status: 'failed:logic', error: expect.stringContaining('v1 broke') as unknown },
      {
        handler_name: 'poll',
        status: 'cancelled',
        error: 'Version 2 of the script has no producer "poll" any more, so there is nothing to retry.',
      },
      { handler_name: 'pollMail', status: 'committed', error: null },
    ])
    expect(world.questions()).toEqual([])
    expect(world.engine.listWorkflows()).toMatchObject([{ state: 'idle', block: null }])
  })

  test('that took the consumer away before the boundary gives the events to whoever subscribes now', async () => {
    const id = await world.deploy(broken)
    await world.publish(id)
    await world.settle()
    await world.engine.deployWorkflow({ workflowId: id, source: workflowScript({ consumers: { carryBetter: {} } }) })
    await world.resolve('retry')
    await world.settle()
    expect(runs(`handler_name, status`).filter(({ status }) => status === 'cancelled')).toEqual([
      { handler_name: 'carry', status: 'cancelled' },
    ])
    expect(world.value(`SELECT status FROM events`)).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
  })

  test('that took the consumer away past the boundary asks again, and can be settled by skipping', async () => {
    const id = await world.deploy(consumerScript({ next: `async next() { throw new Error('v1 broke') }` }))
    await world.publish(id)
    await world.settle()
    await world.engine.deployWorkflow({ workflowId: id, source: workflowScript({ consumers: { carryBetter: {} } }) })
    await world.resolve('retry')
    await world.settle()
    expect(world.questions()).toMatchObject([
      {
        kind: 'logic_failure',
        message: 'Version 2 of the script has no consumer "carry" any more. Bring it back, or skip these events.',
        actions: ['retry', 'skip'],
      },
    ])
    await world.resolve('skip')
    await world.settle()
    expect(world.value(`SELECT status FROM events`)).toBe('skipped')
    expect(world.box.calls).toHaveLength(1)
  })

  test('of a handler that waits for its automatic retry is cancelled too, and nobody is asked', async () => {
    world.box.answers.push(failed('network'))
    const id = await world.deploy(reading)
    await world.settle()
    await world.engine.deployWorkflow({
      workflowId: id,
      source: workflowScript({ producers: { other: { handler: publishing('a') } } }),
    })
    await world.settle()
    world.clock.advance(2000)
    await world.settle()
    expect(runs('handler_name, status')).toEqual([
      { handler_name: 'poll', status: 'paused:transient' },
      { handler_name: 'other', status: 'committed' },
      { handler_name: 'poll', status: 'cancelled' },
    ])
    expect(world.engine.listWorkflows()).toMatchObject([{ state: 'idle' }])
  })
})
