import { beforeEach, describe, expect, test } from 'vitest'
import type { FailureType } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import { answered, failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript } from '../../support/scripts.ts'

let world: TestEngine
let id: string

const deploy = async (script = consumerScript({ next: null })): Promise<void> => {
  world = await openTestEngine()
  id = await world.deploy(script)
  await world.settle()
}

beforeEach(() => deploy())

const mutating = (body: string): string =>
  consumerScript({ mutate: `async mutate(prepared, ctx) { ${body} }`, next: null })

const carryOut = async (): Promise<void> => {
  await world.publish(id)
  await world.settle()
}

const ledger = (columns = 'status'): Record<string, unknown>[] =>
  world.rows(`SELECT ${columns} FROM mutations ORDER BY id`)
const attempt = (columns = 'phase, status'): Record<string, unknown> | undefined =>
  world.rows(`SELECT ${columns} FROM handler_runs WHERE prepare_result LIKE '%m1%' ORDER BY id DESC`)[0]
const eventStatus = (): unknown => world.value(`SELECT status FROM events WHERE message_id = 'm1'`)
const saidAfterwards = (): unknown => world.value(`SELECT count(*) FROM logs WHERE message LIKE 'after%'`)

describe('a mutation', () => {
  test('is on disk as in flight before the call starts', async () => {
    const release = world.holdBarrier()
    const published = world.publish(id)
    await world.until(() => ledger().length === 1)
    expect(ledger('status, tool_namespace, tool_method, params')).toEqual([
      { status: 'in_flight', tool_namespace: 'box', tool_method: 'send', params: '{"n":1}' },
    ])
    await new Promise((resolve) => setImmediate(resolve))
    expect(world.box.calls).toEqual([])
    release()
    await published
    await world.settle()
    expect(world.box.calls).toHaveLength(1)
    expect(ledger()).toEqual([{ status: 'applied' }])
    const call = world.trail.indexOf('box.send')
    expect(world.trail.slice(0, call).lastIndexOf('durable')).toBe(call - 1)
    // Nobody waits for the outcome to be on disk, but its way there starts at once.
    expect(world.trail[call + 1]).toBe('flush')
  })

  test('that was deleted with its workflow while the disk was being written is not sent', async () => {
    const release = world.holdBarrier()
    const published = world.publish(id)
    await world.until(() => ledger().length === 1)
    const deleted = world.engine.deleteWorkflow(id)
    release()
    await Promise.all([published, deleted])
    await world.settle()
    expect(world.box.calls).toEqual([])
    expect(world.engine.info()).toMatchObject({ state: 'running', fatal: null })
  })

  test.each([
    ['plain', `await ctx.box.send(1); ctx.log.info('after')`],
    ['in try', `try { await ctx.box.send(1) } finally { ctx.log.info('after') }`],
    ['with then', `await ctx.box.send(1).then(() => ctx.log.info('after'))`],
    ['in a race', `await Promise.race([ctx.box.send(1), new Promise(() => {})]); ctx.log.info('after')`],
  ])('is the end of the script: nothing after it runs (%s)', async (_, body) => {
    await deploy(mutating(body))
    await carryOut()
    expect(attempt()).toEqual({ phase: 'committed', status: 'committed' })
    expect(world.box.calls).toHaveLength(1)
    expect(saidAfterwards()).toBe(0)
  })

  test('that fails cannot be caught by the script', async () => {
    await deploy(mutating(`try { await ctx.box.send(1) } catch { ctx.log.info('after') }`))
    world.box.answers.push(failed('auth'))
    await carryOut()
    expect(attempt()).toEqual({ phase: 'mutating', status: 'paused:approval' })
    expect(saidAfterwards()).toBe(0)
  })

  test.each([
    ['one after the other: the second never runs', `await ctx.box.send(1); await ctx.box.send(2)`, [1]],
    ['at once', `await Promise.all([ctx.box.send(1), ctx.box.send(2)])`, []],
    ['at once, and the refusal is caught', `await Promise.allSettled([ctx.box.send(1), ctx.box.send(2)])`, []],
    ['the second after a refused read', `ctx.box.get(0).catch(() => ctx.box.send(2)); await ctx.box.send(1)`, []],
    [
      'three, where the first two were refused',
      `await Promise.allSettled([ctx.box.send(1), ctx.box.send(2)]); await ctx.box.send(3)`,
      [],
    ],
  ])('is the only one of its handler run (%s)', async (_, body, sent) => {
    await deploy(mutating(body))
    await carryOut()
    expect(world.box.calls.map(({ params }) => params)).toEqual(sent)
    if (sent.length > 0) return
    expect(attempt('status, error')).toEqual({
      status: 'failed:logic',
      error: expect.stringContaining('mutate started two mutations') as unknown,
    })
    expect(ledger()).toEqual([])
    expect(eventStatus()).toBe('pending')
  })

  test('that was not awaited is a logic error, and is not sent', async () => {
    await deploy(mutating(`ctx.box.send(1)`))
    await carryOut()
    expect(attempt('status')).toEqual({ status: 'failed:logic' })
    expect(world.box.calls).toEqual([])
    expect(eventStatus()).toBe('pending')
  })
})

describe('an answer', () => {
  const definite: [FailureType, string, string | null][] = [
    ['network', 'paused:transient', null],
    ['auth', 'paused:approval', 'auth'],
    ['permission', 'paused:approval', 'permission'],
    ['logic', 'failed:logic', 'logic_failure'],
    ['internal', 'failed:internal', 'internal_failure'],
  ]

  test.each(definite)(
    'that is a definite failure (%s) makes it failed and releases the events',
    async (type, status, asked) => {
      world.box.answers.push(failed(type))
      await carryOut()
      expect(ledger('status, error, result')).toEqual([
        { status: 'failed', error: `The box said ${type}.`, result: null },
      ])
      expect(attempt()).toEqual({ phase: 'mutating', status })
      expect(eventStatus()).toBe('pending')
      expect(world.questions().map(({ kind }) => kind)).toEqual(asked === null ? [] : [asked])
    },
  )

  test.each([...definite.map(([type]) => failed(type, 'uncertain')), 'throw' as const, 'throw at once' as const])(
    'that leaves the outcome open (%j) asks a person, keeps the events and sends nothing again',
    async (answer) => {
      world.box.answers.push(answer)
      await carryOut()
      world.clock.advance(3_600_000)
      await world.settle()
      expect(ledger('status, result')).toEqual([{ status: 'indeterminate', result: null }])
      expect(attempt('phase, status, retry_at')).toEqual({
        phase: 'mutating',
        status: 'paused:reconciliation',
        retry_at: null,
      })
      expect(eventStatus()).toBe('reserved')
      expect(world.box.calls).toHaveLength(1)
      expect(world.questions()).toMatchObject([
        {
          kind: 'indeterminate_mutation',
          details: {
            tool: 'box.send',
            title: 'Box: send',
            params: { n: 1 },
            idempotencyKey: world.box.calls[0]?.key,
            whereToCheck: 'Open the box.',
          },
        },
      ])
    },
  )

  test('that does not come in time leaves the outcome open, and one that comes later changes nothing', async () => {
    const late = heldAnswer()
    world.box.answers.push(late.answer)
    await world.publish(id)
    await world.until(() => world.box.calls.length === 1)
    world.clock.advance(59_999)
    expect(ledger()).toEqual([{ status: 'in_flight' }])
    world.clock.advance(1)
    await world.settle()
    expect(ledger('status, error')).toEqual([{ status: 'indeterminate', error: 'No answer within 60 s.' }])
    const before = world.dump()
    late.give(answered('late'))
    await world.settle()
    expect(world.dump()).toBe(before)
  })

  test.each([0.4, -3, Number.NaN])('with a cost of %d is written all the same', async (cost) => {
    world.box.answers.push({ kind: 'ok', value: 1, cost })
    await carryOut()
    expect(ledger()).toEqual([{ status: 'applied' }])
    expect(attempt('status, cost')).toEqual({ status: 'committed', cost: 0 })
  })

  test('that is nested too deep to be kept is left out, but what was done stays done', async () => {
    let value: Json = 1
    for (let level = 0; level < 600; level += 1) value = [value]
    world.box.answers.push(answered(value))
    await carryOut()
    expect(ledger('status, result')).toEqual([{ status: 'applied', result: null }])
    expect(attempt('status, mutation_outcome')).toEqual({ status: 'committed', mutation_outcome: 'applied' })
    expect(world.value(`SELECT message FROM logs WHERE level = 'warn'`)).toContain('so it was not kept')
  })
})

describe('the idempotency key', () => {
  const keyFor = async (messageId: string): Promise<string | null> => {
    await world.publish(id, messageId)
    await world.settle()
    return world.box.calls.at(-1)?.key ?? null
  }

  test('is the same for every attempt on the same events', async () => {
    world.box.answers.push(failed('network'), 'never')
    await world.publish(id)
    await world.settle()
    world.clock.advance(2000)
    await world.until(() => world.box.calls.length === 2)
    await world.crash()
    await world.resolve('did_not_happen')
    await world.settle()
    const keys = world.box.calls.map(({ key }) => key)
    expect(keys).toEqual([keys[0], keys[0], keys[0]])
    expect(ledger('status, idempotency_key')).toEqual(
      ['failed', 'failed', 'applied'].map((status) => ({ status, idempotency_key: keys[0] })),
    )
  })

  test('is another one for other events, and for the same message id in another workflow', async () => {
    const first = await keyFor('m1')
    const second = await keyFor('m2')
    id = await world.deploy(consumerScript({ next: null }))
    const elsewhere = await keyFor('m1')
    expect(new Set([first, second, elsewhere]).size).toBe(3)
  })
})

describe('before anything is sent', () => {
  test('bad arguments are refused as a logic error, and the ledger says so', async () => {
    await deploy(mutating(`await ctx.box.send('bad')`))
    const waited = world.trail.length
    await carryOut()
    expect(ledger('status, params, error')).toEqual([
      { status: 'failed', params: '["bad"]', error: 'box.send: the first argument must not be "bad".' },
    ])
    expect(attempt()).toEqual({ phase: 'mutating', status: 'failed:logic' })
    expect(world.trail.slice(waited)).not.toContain('box.send')
    expect(eventStatus()).toBe('pending')
  })

  test('a permission that was not granted stops it; granted, it is retried and goes through', async () => {
    await deploy(mutating(`await ctx.box.send('secret')`))
    await carryOut()
    expect(ledger('status, error')).toEqual([
      {
        status: 'failed',
        error: 'box.send needs the permission "box:secret", which was not granted to this workflow.',
      },
    ])
    expect(attempt()).toEqual({ phase: 'mutating', status: 'paused:approval' })
    expect(world.questions()).toMatchObject([
      { kind: 'permission', actions: ['grant'], details: { neededPermissions: ['box:secret'] } },
    ])
    expect(world.box.calls).toEqual([])
    await world.resolve('grant')
    await world.settle()
    expect(world.value(`SELECT permissions FROM workflows`)).toBe('["box:secret"]')
    expect(world.box.calls).toHaveLength(1)
    expect(eventStatus()).toBe('consumed')
  })

  test('arguments that are nested too deep are the error of the script', async () => {
    await deploy(mutating(`let deep = 1; for (let i = 0; i < 600; i++) deep = [deep]; await ctx.box.send(deep)`))
    await carryOut()
    expect(attempt('status, error')).toEqual({
      status: 'failed:logic',
      error: 'box.send: an argument is nested more than 500 levels deep.',
    })
    expect(world.box.calls).toEqual([])
  })
})

describe('an entry that is found with an active attempt decides how it goes on', () => {
  /** What the rows would say if the engine had stopped between two lines of its own code. */
  const leaveEntry = async (status: string): Promise<string> => {
    world.box.answers.push(failed('network', 'uncertain'))
    await carryOut()
    const run = String(world.value(`SELECT id FROM handler_runs WHERE status = 'paused:reconciliation'`))
    world.change(`UPDATE workflows SET block_run_id = NULL, block_kind = NULL, block_message = NULL`)
    world.change(`DELETE FROM escalations`)
    world.change(
      `UPDATE script_runs SET result = NULL, error = NULL, end_timestamp = NULL WHERE id = (SELECT max(id) FROM script_runs)`,
    )
    world.change(
      `UPDATE handler_runs SET status = 'active', end_timestamp = NULL, error = NULL, error_type = NULL WHERE id = ?`,
      run,
    )
    world.change(`UPDATE mutations SET status = ?, error = NULL`, status)
    world.box.calls.length = 0
    return run
  }

  test.each([
    { status: 'pending', run: 'committed', entry: 'applied', sent: 1 },
    { status: 'in_flight', run: 'paused:reconciliation', entry: 'indeterminate', sent: 0 },
    { status: 'applied', run: 'committed', entry: 'applied', sent: 0 },
    { status: 'indeterminate', run: 'paused:reconciliation', entry: 'indeterminate', sent: 0 },
    { status: 'failed', run: 'failed:internal', entry: 'failed', sent: 0 },
  ])('$status', async ({ status, run, entry, sent }) => {
    const runId = await leaveEntry(status)
    expect(await world.engine.internals.executeHandler(runId)).toBe('settled')
    expect(world.value(`SELECT status FROM handler_runs WHERE id = ?`, runId)).toBe(run)
    expect(ledger()).toEqual([{ status: entry }])
    expect(world.box.calls).toHaveLength(sent)
  })
})
