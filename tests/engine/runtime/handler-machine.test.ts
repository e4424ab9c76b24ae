import { beforeEach, describe, expect, test } from 'vitest'
import { answered, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishTwo } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const carried = `FROM handler_runs WHERE prepare_result LIKE '%m1%' ORDER BY id`

const phasesOf = (sql: string): string[] =>
  (JSON.parse(String(world.value(sql))) as [string, number][]).map(([phase]) => phase)

const publishItem = async (workflowId: string, messageId = 'm1'): Promise<void> => {
  const done = await world.engine.publishEvent(workflowId, 'item', { messageId, payload: { n: 1 } })
  expect(done).toMatchObject({ ok: true })
}

describe('a producer', () => {
  test('goes from pending through executing to committed, and its events and state land together', async () => {
    await world.deploy(producerScript(publishTwo))
    await world.settle()
    expect(phasesOf(`SELECT phase_times FROM handler_runs`)).toEqual(['pending', 'executing', 'committed'])
    expect(world.rows(`SELECT status, phase, output_state FROM handler_runs`)).toEqual([
      { status: 'committed', phase: 'committed', output_state: '{"polls":1}' },
    ])
    expect(world.rows(`SELECT message_id, title, status FROM events ORDER BY id`)).toEqual([
      { message_id: 'a', title: 'A', status: 'pending' },
      { message_id: 'b', title: 'B', status: 'pending' },
    ])
    expect(world.value(`SELECT state FROM handler_state WHERE handler_name = 'poll'`)).toBe('{"polls":1}')
  })

  test('that throws keeps its phase, gets a failed status, and publishes nothing', async () => {
    await world.deploy(
      producerScript(`async handler(state, ctx) {
      await ctx.topics.publish('item', { messageId: 'a', payload: 1 })
      throw new Error('no mail today')
    }`),
    )
    await world.settle()
    expect(world.rows(`SELECT phase, status, error, error_type, error_line FROM handler_runs`)).toEqual([
      {
        phase: 'executing',
        status: 'failed:logic',
        error: expect.stringContaining('no mail today') as unknown,
        error_type: 'logic',
        error_line: 7,
      },
    ])
    expect(world.value(`SELECT count(*) FROM events`)).toBe(0)
    expect(world.value(`SELECT count(*) FROM handler_state`)).toBe(0)
  })
})

describe('a consumer', () => {
  test('goes through all phases, and what it did lands in one commit', async () => {
    const id = await world.deploy(consumerScript())
    await publishItem(id)
    await world.settle()
    expect(world.rows(`SELECT phase, status, mutation_outcome, output_state ${carried}`)).toEqual([
      { phase: 'committed', status: 'committed', mutation_outcome: 'applied', output_state: '{"last":"applied"}' },
    ])
    expect(phasesOf(`SELECT phase_times ${carried}`)).toEqual([
      'pending',
      'preparing',
      'prepared',
      'mutating',
      'mutated',
      'emitting',
      'committed',
    ])
    expect(world.box.calls).toEqual([
      { method: 'send', params: { n: 1 }, key: expect.stringMatching(/^hf_[0-9a-f]{40}$/) as unknown },
    ])
    expect(world.value(`SELECT status FROM events WHERE title IS NULL AND caused_by = '[]'`)).toBe('consumed')
    const root = String(world.value(`SELECT id FROM events WHERE caused_by = '[]'`))
    expect(world.rows(`SELECT payload, caused_by FROM events WHERE caused_by <> '[]'`)).toEqual([
      { payload: '{"status":"applied","result":{"echo":{"n":1}}}', caused_by: JSON.stringify([root]) },
    ])
  })

  test('whose prepare throws keeps its phase, reserves nothing and asks the user', async () => {
    const id = await world.deploy(consumerScript({ prepare: `async prepare() { throw new Error('confused') }` }))
    await world.settle()
    await publishItem(id)
    expect(world.rows(`SELECT phase, status, error_type FROM handler_runs`)).toEqual([
      { phase: 'preparing', status: 'failed:logic', error_type: 'logic' },
    ])
    expect(world.value(`SELECT status FROM events`)).toBe('pending')
    expect(world.questions()).toMatchObject([{ kind: 'logic_failure', workflowId: id }])
  })

  test('with empty reservations commits at once: mutate and next are skipped, the state stays', async () => {
    await world.deploy(
      consumerScript({
        prepare: `async prepare() { return { reservations: [], data: {} } }`,
        mutate: `async mutate() { throw new Error('must not run') }`,
        next: `async next() { throw new Error('must not run') }`,
      }),
    )
    await world.settle()
    expect(phasesOf(`SELECT phase_times FROM handler_runs`)).toEqual(['pending', 'preparing', 'prepared', 'committed'])
    expect(world.rows(`SELECT status, output_state FROM handler_runs`)).toEqual([
      { status: 'committed', output_state: null },
    ])
  })

  test('found in mutating with a mutation in flight is paused for the user and sends nothing', async () => {
    world.box.answers.push('never')
    const id = await world.deploy(consumerScript())
    await publishItem(id)
    await world.until(() => world.box.calls.length === 1)
    expect(world.value(`SELECT status FROM mutations`)).toBe('in_flight')
    await world.crash()
    await world.settle()
    expect(world.rows(`SELECT phase, status ${carried}`)).toEqual([
      { phase: 'mutating', status: 'paused:reconciliation' },
    ])
    expect(world.value(`SELECT status FROM mutations`)).toBe('indeterminate')
    expect(world.value(`SELECT status FROM events`)).toBe('reserved')
    expect(world.box.calls).toHaveLength(1)
    expect(world.questions()).toMatchObject([
      {
        kind: 'indeterminate_mutation',
        actions: ['happened', 'did_not_happen', 'skip'],
        details: { tool: 'box.send', params: { n: 1 }, whereToCheck: 'Open the box.' },
      },
    ])
  })

  test('whose mutation is applied goes on at mutated and never calls again, whatever fails later', async () => {
    world.box.answers.push(answered({ row: 7 }))
    const id = await world.deploy(consumerScript({ next: `async next() { throw new Error('next broke') }` }))
    await publishItem(id)
    await world.settle()
    expect(world.rows(`SELECT phase, status, mutation_outcome, mutation_result ${carried}`)).toEqual([
      { phase: 'emitting', status: 'failed:logic', mutation_outcome: 'applied', mutation_result: '{"row":7}' },
    ])
    expect(world.value(`SELECT status FROM events`)).toBe('reserved')
    expect(world.box.calls).toHaveLength(1)
  })

  test('without mutate and next carries its events to consumed with outcome none', async () => {
    const id = await world.deploy(consumerScript({ mutate: null, next: null }))
    await publishItem(id)
    await world.settle()
    expect(world.rows(`SELECT status, mutation_outcome ${carried}`)).toEqual([
      { status: 'committed', mutation_outcome: 'none' },
    ])
    expect(world.value(`SELECT status FROM events`)).toBe('consumed')
    expect(world.value(`SELECT count(*) FROM mutations`)).toBe(0)
  })

  test('whose mutate calls nothing has the outcome none', async () => {
    const id = await world.deploy(consumerScript({ mutate: `async mutate() {}` }))
    await publishItem(id)
    await world.settle()
    expect(world.value(`SELECT mutation_outcome ${carried}`)).toBe('none')
  })
})

test('after a restart an interrupted run is crashed and its successor goes on from what the rows say', async () => {
  const id = await world.deploy(consumerScript())
  await world.settle()
  world.dieAt('mutation_settled')
  await publishItem(id)
  await world.until(() => world.isDead())
  await world.crash()
  await world.settle()
  expect(world.rows(`SELECT phase, status, attempt, retry_of IS NOT NULL AS is_retry ${carried}`)).toEqual([
    { phase: 'emitting', status: 'crashed', attempt: 1, is_retry: 0 },
    { phase: 'committed', status: 'committed', attempt: 2, is_retry: 1 },
  ])
  expect(phasesOf(`SELECT phase_times ${carried} DESC`)).toEqual(['emitting', 'committed'])
  expect(world.box.calls).toHaveLength(1)
  expect(world.engine.info().lastRecovery).toMatchObject({ recoveredRuns: 1, askedUser: 0, violations: [] })
})
