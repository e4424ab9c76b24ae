import { beforeEach, describe, expect, test } from 'vitest'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishTwo, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const minutes = 60_000

/** Handler runs of the chains that came so far, without the looks that found nothing. */
const attempts = (columns: string): Record<string, unknown>[] =>
  world.rows(
    `SELECT ${columns} FROM handler_runs WHERE prepare_result IS NULL OR prepare_result LIKE '%m1%' ORDER BY id`,
  )

const deployCarrier = async (script = consumerScript({ next: null })): Promise<string> => {
  const id = await world.deploy(script)
  await world.settle()
  return id
}

/** Moves time on until the retry that is waiting has run. */
const letRetryRun = async (): Promise<number> => {
  const retryAt = Number(world.value(`SELECT max(retry_at) FROM handler_runs`))
  const waited = retryAt - world.clock.now()
  world.clock.advance(waited)
  await world.settle()
  return waited
}

describe('a retry', () => {
  test('is a row of its own that names the attempt before; that one stays as it failed', async () => {
    const id = await deployCarrier()
    world.box.answers.push(failed('network'), failed('network'))
    await world.publish(id)
    await world.settle()
    await letRetryRun()
    await letRetryRun()
    const rows = attempts('id, retry_of, attempt, phase, status, error_type')
    const [first, second, third] = rows.map((row) => row['id'])
    expect(rows).toEqual([
      { id: first, retry_of: null, attempt: 1, phase: 'mutating', status: 'paused:transient', error_type: 'network' },
      { id: second, retry_of: first, attempt: 2, phase: 'mutating', status: 'paused:transient', error_type: 'network' },
      { id: third, retry_of: second, attempt: 3, phase: 'committed', status: 'committed', error_type: null },
    ])
  })

  test('comes after 1 s, 2 s, 4 s, 8 s and 16 s and up to 30 % more; after the fifth a person is asked', async () => {
    const id = await deployCarrier()
    world.box.answers.push(...Array.from({ length: 6 }, () => failed('network')))
    await world.publish(id)
    await world.settle()
    for (const wait of [1000, 2000, 4000, 8000, 16_000]) {
      expect(world.questions()).toEqual([])
      const waited = await letRetryRun()
      expect(waited).toBeGreaterThanOrEqual(wait)
      expect(waited).toBeLessThanOrEqual(wait * 1.3)
    }
    expect(attempts('attempt, status, retry_at')).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => ({ attempt, status: 'paused:transient', retry_at: null })),
    )
    expect(world.questions()).toMatchObject([
      {
        kind: 'retries_exhausted',
        actions: ['retry', 'skip'],
        details: { tool: 'box.send', params: { n: 1 }, events: [{ topic: 'item', ids: ['m1'] }] },
      },
    ])
    expect(world.box.calls).toHaveLength(6)
  })

  test('asked for by a person starts the count anew', async () => {
    const id = await deployCarrier()
    world.box.answers.push(...Array.from({ length: 7 }, () => failed('network')))
    await world.publish(id)
    await world.settle()
    for (let n = 0; n < 5; n += 1) await letRetryRun()
    await world.resolve('retry')
    await world.settle()
    expect(world.questions()).toEqual([])
    expect(attempts('attempt, retries_used').at(-1)).toEqual({ attempt: 7, retries_used: 0 })
    const waited = await letRetryRun()
    expect(waited).toBeLessThanOrEqual(1300)
    expect(world.value(`SELECT status FROM events`)).toBe('consumed')
  })

  test('waits as long as the other side asked for, and no longer than its own time when that is more', async () => {
    const id = await deployCarrier()
    world.box.answers.push(failed('network', 'definite', 20_000), failed('network', 'definite', 500))
    await world.publish(id)
    await world.settle()
    expect(await letRetryRun()).toBe(20_000)
    expect(await letRetryRun()).toBeGreaterThanOrEqual(2000)
  })

  test('holds its handler back until then, and only that handler', async () => {
    const id = await deployCarrier(
      workflowScript({
        consumers: {
          carry: {},
          other: {
            subscribe: ['done'],
            prepare: `async prepare(s, ctx) { await ctx.box.get('other'); return { reservations: [] } }`,
          },
        },
      }),
    )
    world.box.calls.length = 0
    world.box.answers.push(failed('network'))
    await world.publish(id, 'm1')
    await world.publish(id, 'm2')
    await world.engine.publishEvent(id, 'done', { messageId: 'd' })
    await world.settle()
    expect(world.box.calls.map(({ method }) => method)).toEqual(['send', 'get'])
    await letRetryRun()
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBe(2)
  })
})

describe('before the boundary', () => {
  test('a retry starts afresh: the events were released, and prepare runs again', async () => {
    const id = await deployCarrier()
    world.box.answers.push(failed('network'))
    await world.publish(id)
    await world.settle()
    expect(world.rows(`SELECT status, reserved_by_run_id FROM events`)).toEqual([
      { status: 'pending', reserved_by_run_id: null },
    ])
    await world.publish(id, 'm1', { n: 2 })
    await letRetryRun()
    expect(world.box.calls.map(({ params }) => params)).toEqual([{ n: 1 }, { n: 2 }])
    const [first, second] = world.box.calls
    expect(second?.key).toBe(first?.key)
  })
})

describe('past the boundary', () => {
  const brokenNext = consumerScript({ next: `async next() { throw new Error('next broke') }` })

  test('a retry takes over what was prepared, the outcome and the reserved events, and only next runs', async () => {
    const id = await deployCarrier(brokenNext)
    await world.publish(id)
    await world.settle()
    const [stopped] = attempts('id, prepare_result')
    await world.engine.deployWorkflow({ workflowId: id, source: consumerScript() })
    world.dieAt('before_script')
    await world.resolve('retry')
    await world.until(() => world.isDead())
    expect(attempts('phase, status, prepare_result, mutation_outcome, mutation_result, retry_of').at(-1)).toEqual({
      phase: 'emitting',
      status: 'active',
      prepare_result: stopped?.['prepare_result'],
      mutation_outcome: 'applied',
      mutation_result: '{"echo":{"n":1}}',
      retry_of: stopped?.['id'],
    })
    const [retry] = attempts('id').slice(-1)
    expect(world.rows(`SELECT status, reserved_by_run_id FROM events`)).toEqual([
      { status: 'reserved', reserved_by_run_id: retry?.['id'] },
    ])
    await world.crash()
    await world.settle()
    expect(world.value(`SELECT status FROM events WHERE message_id = 'm1' AND caused_by = '[]'`)).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
    expect(world.value(`SELECT count(*) FROM mutations`)).toBe(1)
  })

  test('a retry under a new version runs the next of that version', async () => {
    const id = await deployCarrier(brokenNext)
    await world.publish(id)
    await world.settle()
    const next = `async next(prepared, mutation, ctx) { return { repaired: mutation } }`
    await world.engine.deployWorkflow({ workflowId: id, source: consumerScript({ next }) })
    await world.resolve('retry')
    await world.settle()
    expect(world.value(`SELECT state FROM handler_state WHERE handler_name = 'carry'`)).toBe(
      '{"repaired":{"status":"applied","result":{"echo":{"n":1}}}}',
    )
    expect(attempts('script_id').map((row) => row['script_id'])).toEqual(
      world.rows(`SELECT id FROM scripts ORDER BY version`).map((row) => row['id']),
    )
  })
})

describe('an attempt that dies with the tab', () => {
  const dieDuring = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) {
      await world.until(() => world.isDead())
      if (n < times - 1) world.dieAt('after_script')
      await world.crash()
    }
    await world.settle()
  }

  test('twice is tried again by itself', async () => {
    world.dieAt('after_script')
    await world.deploy(producerScript(publishTwo))
    await dieDuring(2)
    expect(attempts('status, attempt')).toEqual([
      { status: 'crashed', attempt: 1 },
      { status: 'crashed', attempt: 2 },
      { status: 'committed', attempt: 3 },
    ])
    expect(world.value(`SELECT count(*) FROM events`)).toBe(2)
  })

  test('three times in a row is not: it has failed, and a person is asked', async () => {
    world.dieAt('after_script')
    await world.deploy(producerScript(publishTwo))
    await dieDuring(3)
    expect(attempts('status, error_type')).toEqual([
      { status: 'crashed', error_type: null },
      { status: 'crashed', error_type: null },
      { status: 'failed:internal', error_type: 'internal' },
    ])
    expect(world.questions()).toMatchObject([{ kind: 'internal_failure', actions: ['retry'] }])
    expect(world.engine.info().lastRecovery).toMatchObject({ recoveredRuns: 0, gaveUp: 1 })
    await world.resolve('retry')
    await world.settle()
    expect(attempts('status, attempt').at(-1)).toEqual({ status: 'committed', attempt: 4 })
  })

  test('does not spend the retries that failures have', async () => {
    const id = await deployCarrier()
    world.box.answers.push(failed('network'))
    await world.publish(id)
    await world.settle()
    world.dieAt('before_script')
    world.clock.advance(2000)
    await world.until(() => world.isDead())
    await world.crash()
    await world.settle()
    expect(attempts('status, retries_used')).toEqual([
      { status: 'paused:transient', retries_used: 0 },
      { status: 'crashed', retries_used: 1 },
      { status: 'committed', retries_used: 1 },
    ])
  })
})

describe('a schedule', () => {
  const polls = (): number => world.box.calls.length
  const poll = producerScript(`async handler(state, ctx) { await ctx.box.get('poll') }`)

  test('that fires several times while its producer runs is served once afterwards', async () => {
    await world.deploy(poll)
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    world.clock.advance(5 * minutes)
    await world.until(() => polls() === 2)
    for (let n = 0; n < 4; n += 1) world.clock.advance(5 * minutes)
    held.give()
    await world.settle()
    expect(polls()).toBe(3)
  })

  test('that was missed many times while no tab was open is served once, and keeps its beat', async () => {
    await world.deploy(poll)
    await world.settle()
    const due = Number(world.value(`SELECT next_run_at FROM producer_schedules`))
    world.engine.stop()
    world.clock.advance(63 * minutes)
    await world.crash()
    await world.settle()
    expect(polls()).toBe(2)
    expect(world.value(`SELECT next_run_at FROM producer_schedules`)).toBe(due + 60 * minutes)
  })

  test('keeps firing by its beat although its producer had to be retried', async () => {
    await world.deploy(poll)
    await world.settle()
    const due = Number(world.value(`SELECT next_run_at FROM producer_schedules`))
    world.box.answers.push(failed('network'))
    world.clock.advance(5 * minutes)
    await world.settle()
    expect(world.value(`SELECT next_run_at FROM producer_schedules`)).toBe(due)
    await letRetryRun()
    expect(world.value(`SELECT next_run_at FROM producer_schedules`)).toBe(due + 5 * minutes)
  })
})
