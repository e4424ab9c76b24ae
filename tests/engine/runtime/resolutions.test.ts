import { beforeEach, describe, expect, test } from 'vitest'
import { escalationActions, type EscalationAction } from '#engine/model/escalation.ts'
import { failed, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript } from '../../support/scripts.ts'

let world: TestEngine
let id: string

const deploy = async (script = consumerScript()): Promise<void> => {
  world = await openTestEngine()
  id = await world.deploy(script)
  await world.settle()
}

const events = (): Record<string, unknown>[] =>
  world.rows(
    `SELECT t.name AS topic, e.message_id, e.status FROM events e JOIN topics t ON t.id = e.topic_id ORDER BY e.id`,
  )
const ledger = (): Record<string, unknown>[] =>
  world.rows(`SELECT status, result, resolved_by FROM mutations ORDER BY id`)
const question = (): string => world.questions()[0]?.id ?? 'none'

describe('a mutation whose outcome nobody knows', () => {
  beforeEach(async () => {
    await deploy()
    world.box.answers.push(failed('network', 'uncertain'))
    await world.publish(id)
    await world.settle()
  })

  test('happened: next runs with the result that was pasted, and nothing is sent', async () => {
    await world.resolve('happened', { row: 7 })
    await world.settle()
    expect(ledger()).toEqual([{ status: 'applied', result: '{"row":7}', resolved_by: 'user_happened' }])
    expect(world.value(`SELECT payload FROM events WHERE caused_by <> '[]'`)).toBe(
      '{"status":"applied","result":{"row":7}}',
    )
    expect(events()[0]).toMatchObject({ message_id: 'm1', status: 'consumed' })
    expect(world.box.calls).toHaveLength(1)
  })

  test('happened, with nothing pasted: next gets null as the result', async () => {
    await world.resolve('happened')
    await world.settle()
    expect(ledger()).toEqual([{ status: 'applied', result: null, resolved_by: 'user_happened' }])
    expect(world.value(`SELECT payload FROM events WHERE caused_by <> '[]'`)).toBe('{"status":"applied","result":null}')
  })

  test('happened: the same attempt goes on, its run is open again and completes', async () => {
    const before = world.rows(`SELECT id, script_run_id FROM handler_runs WHERE status = 'paused:reconciliation'`)
    await world.resolve('happened')
    await world.settle()
    expect(world.rows(`SELECT id, script_run_id FROM handler_runs WHERE mutation_outcome = 'applied'`)).toEqual(before)
    expect(world.value(`SELECT result FROM script_runs WHERE id = ?`, String(before[0]?.['script_run_id']))).toBe(
      'completed',
    )
  })

  test('did not happen: it is tried again from the start, with the same key', async () => {
    await world.resolve('did_not_happen')
    await world.settle()
    expect(ledger()).toEqual([
      { status: 'failed', result: null, resolved_by: 'user_did_not_happen' },
      { status: 'applied', result: '{"echo":{"n":1}}', resolved_by: null },
    ])
    expect(world.box.calls).toHaveLength(2)
    expect(world.box.calls[1]?.key).toBe(world.box.calls[0]?.key)
    expect(events()[0]).toMatchObject({ status: 'consumed' })
  })

  test('skipped: next is told so, the events end as skipped, and the ledger keeps saying that nobody knows', async () => {
    await world.resolve('skip')
    await world.settle()
    expect(ledger()).toEqual([{ status: 'indeterminate', result: null, resolved_by: 'user_skip' }])
    expect(world.value(`SELECT payload FROM events WHERE caused_by <> '[]'`)).toBe('{"status":"skipped"}')
    expect(events()).toEqual([
      { topic: 'item', message_id: 'm1', status: 'skipped' },
      { topic: 'done', message_id: 'm1', status: 'pending' },
    ])
    expect(world.box.calls).toHaveLength(1)
  })

  test.each([false, true])(
    'skipped is no question any more, also when the tab dies in next (can be looked up: %s)',
    async (canCheck) => {
      if (canCheck) world.box.checks = []
      world.dieAt('after_script')
      await world.resolve('skip')
      await world.until(() => world.isDead())
      await world.crash()
      await world.settle()
      expect(world.questions()).toEqual([])
      expect(world.engine.info().lastRecovery).toMatchObject({ recoveredRuns: 1, askedUser: 0 })
      expect(
        world.rows(`SELECT phase, status FROM handler_runs WHERE mutation_outcome = 'skipped' ORDER BY id`),
      ).toEqual([
        { phase: 'emitting', status: 'crashed' },
        { phase: 'committed', status: 'committed' },
      ])
      expect(events()[0]).toMatchObject({ status: 'skipped' })
      expect(world.box.calls).toHaveLength(1)
    },
  )

  test('answered twice has one effect: the second gets an error and changes nothing', async () => {
    const escalation = question()
    await world.resolve('happened', 1)
    await world.settle()
    const before = world.dump()
    expect(await world.engine.resolveEscalation(escalation, 'did_not_happen')).toEqual({
      ok: false,
      error: { code: 'already_resolved', message: 'This was settled already, with "happened". Nothing was changed.' },
    })
    expect(world.dump()).toBe(before)
  })

  test('answered from two tabs at once has one effect', async () => {
    const escalation = question()
    const answers = await Promise.all([
      world.engine.resolveEscalation(escalation, 'did_not_happen'),
      world.engine.resolveEscalation(escalation, 'happened'),
    ])
    await world.settle()
    expect(answers).toMatchObject([{ ok: true }, { ok: false, error: { code: 'already_resolved' } }])
    expect(world.box.calls).toHaveLength(2)
    expect(world.value(`SELECT resolution FROM escalations`)).toBe('did_not_happen')
  })

  test('answered while the workflow is paused goes on when it is resumed', async () => {
    await world.engine.pauseWorkflow(id)
    await world.resolve('happened', 5)
    await world.settle()
    expect(world.rows(`SELECT phase, status FROM handler_runs WHERE status = 'active'`)).toEqual([
      { phase: 'mutated', status: 'active' },
    ])
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(events()[0]).toMatchObject({ status: 'consumed' })
  })

  test('answered just before the tab dies stays answered', async () => {
    world.dieAt('escalation_resolved')
    await expect(world.engine.resolveEscalation(question(), 'happened')).rejects.toThrow()
    await world.crash()
    await world.settle()
    expect(world.questions()).toEqual([])
    expect(events()[0]).toMatchObject({ status: 'consumed' })
    expect(world.box.calls).toHaveLength(1)
  })
})

describe('the actions that are offered', () => {
  const causes: { cause: string; script: string; answers: Parameters<typeof failed>[]; offered: EscalationAction[] }[] =
    [
      {
        cause: 'an open outcome',
        script: consumerScript(),
        answers: [['network', 'uncertain']],
        offered: ['happened', 'did_not_happen', 'skip'],
      },
      {
        cause: 'a broken mutate',
        script: consumerScript({ mutate: `async mutate() { throw new Error('no') }` }),
        answers: [],
        offered: ['retry', 'skip'],
      },
      {
        cause: 'a broken producer',
        script: producerScript(`async handler() { throw new Error('no') }`),
        answers: [],
        offered: ['retry'],
      },
      { cause: 'auth', script: consumerScript(), answers: [['auth']], offered: ['reconnect'] },
      { cause: 'permission', script: consumerScript(), answers: [['permission']], offered: ['grant'] },
      { cause: 'an internal failure', script: consumerScript(), answers: [['internal']], offered: ['retry'] },
    ]

  test.each(causes)(
    'after $cause are $offered; every other one is refused by name and changes nothing',
    async ({ script, answers, offered }) => {
      await deploy(script)
      world.box.answers.push(...answers.map((args) => failed(...args)))
      await world.publish(id)
      await world.settle()
      expect(world.questions()[0]?.actions).toEqual(offered)
      const before = world.dump()
      for (const action of escalationActions.filter((name) => !offered.includes(name))) {
        const refused = await world.engine.resolveEscalation(question(), action)
        expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
        expect(!refused.ok && refused.error.message).toContain(`"${action}" does not settle`)
        for (const name of offered) expect(!refused.ok && refused.error.message).toContain(`"${name}"`)
      }
      expect(world.dump()).toBe(before)
    },
  )

  test('of an escalation that does not exist are none', async () => {
    await deploy()
    expect(await world.engine.resolveEscalation('esc_none', 'retry')).toEqual({
      ok: false,
      error: { code: 'not_found', message: 'There is no escalation "esc_none".' },
    })
  })
})

describe('skipping these events', () => {
  test('before the boundary skips the ones that were at hand, and the next ones are carried', async () => {
    await deploy(
      consumerScript({
        mutate: `async mutate(prepared, ctx) { if (prepared.data.n === 1) throw new Error('poison'); await ctx.box.send(prepared.data) }`,
      }),
    )
    await world.publish(id, 'm1', { n: 1 })
    await world.settle()
    await world.publish(id, 'm2', { n: 2 })
    await world.resolve('skip')
    await world.settle()
    expect(events().filter(({ topic }) => topic === 'item')).toEqual([
      { topic: 'item', message_id: 'm1', status: 'skipped' },
      { topic: 'item', message_id: 'm2', status: 'consumed' },
    ])
    expect(world.value(`SELECT count(*) FROM handler_runs WHERE retry_of IS NOT NULL`)).toBe(0)
    expect(world.engine.listWorkflows()).toMatchObject([{ state: 'idle', block: null }])
  })

  test('that prepare only looked at skips those', async () => {
    await deploy(
      consumerScript({
        prepare: `async prepare(state, ctx) {
          const events = await ctx.topics.peek('item')
          if (events.length > 0) throw new Error('cannot read ' + events[0].messageId)
          return { reservations: [] }
        }`,
      }),
    )
    await world.publish(id, 'm1')
    await world.settle()
    await world.resolve('skip')
    await world.settle()
    expect(events()).toEqual([{ topic: 'item', message_id: 'm1', status: 'skipped' }])
    expect(world.questions()).toEqual([])
  })

  test('past the boundary ends them as skipped and next does not run; the mutation stays applied', async () => {
    await deploy(consumerScript({ next: `async next() { throw new Error('next broke') }` }))
    await world.publish(id)
    await world.settle()
    await world.resolve('skip')
    await world.settle()
    expect(events()).toEqual([{ topic: 'item', message_id: 'm1', status: 'skipped' }])
    expect(ledger()).toMatchObject([{ status: 'applied' }])
    expect(world.value(`SELECT count(*) FROM handler_runs WHERE retry_of IS NOT NULL`)).toBe(0)
  })
})

test('reconnect retries: the events that waited are carried', async () => {
  await deploy()
  world.box.answers.push(failed('auth'))
  await world.publish(id)
  await world.settle()
  expect(world.engine.listWorkflows()).toMatchObject([{ state: 'needs_you' }])
  await world.resolve('reconnect')
  await world.settle()
  expect(events()[0]).toMatchObject({ status: 'consumed' })
  expect(world.rows(`SELECT status, attempt FROM handler_runs WHERE prepare_result LIKE '%m1%' ORDER BY id`)).toEqual([
    { status: 'paused:approval', attempt: 1 },
    { status: 'committed', attempt: 2 },
  ])
})
