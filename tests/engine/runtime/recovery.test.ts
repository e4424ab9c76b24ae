import { beforeEach, describe, expect, test } from 'vitest'
import { crashPoints, type CrashPoint } from '#engine/ports/crash-point.ts'
import { failed, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishTwo, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const attempts = (where = '1'): unknown[] =>
  world
    .rows(`SELECT phase, status FROM handler_runs WHERE ${where} ORDER BY id`)
    .map(({ phase, status }) => `${String(phase)} ${String(status)}`)

/** The tab dies at this point and comes back. */
const dieAndReturn = async (point: CrashPoint, set: () => Promise<unknown>): Promise<void> => {
  world.dieAt(point)
  // A command that dies with the tab is never answered.
  await set().catch(() => undefined)
  await world.until(() => world.isDead())
  await world.crash()
  await world.settle()
}

const report = (): unknown => {
  const { recoveredRuns, askedUser, gaveUp, continuedRuns, violations } = world.engine.info().lastRecovery ?? {}
  expect(violations).toEqual([])
  return { recoveredRuns, askedUser, gaveUp, continuedRuns }
}

const nothing = { recoveredRuns: 0, askedUser: 0, gaveUp: 0 }
const done = 'committed committed'

interface Death {
  point: CrashPoint
  attempts: string[]
  report: object
}

const recovered = { ...nothing, recoveredRuns: 1, continuedRuns: 1 }

const producerDeaths: Death[] = [
  { point: 'run_opened', attempts: [done], report: { ...nothing, continuedRuns: 1 } },
  {
    point: 'attempt_started',
    attempts: ['executing crashed', done],
    report: { ...nothing, recoveredRuns: 1, continuedRuns: 1 },
  },
  {
    point: 'before_script',
    attempts: ['executing crashed', done],
    report: { ...nothing, recoveredRuns: 1, continuedRuns: 1 },
  },
  {
    point: 'after_script',
    attempts: ['executing crashed', done],
    report: { ...nothing, recoveredRuns: 1, continuedRuns: 1 },
  },
  { point: 'attempt_committed', attempts: [done], report: { ...nothing, continuedRuns: 1 } },
  { point: 'run_finished', attempts: [done], report: { ...nothing, continuedRuns: 0 } },
]

const consumerDeaths: (Death & { ledger: string[]; calls: number; asked?: boolean })[] = [
  { point: 'run_opened', attempts: [done], ledger: ['applied'], calls: 1, report: { ...nothing, continuedRuns: 1 } },
  { point: 'attempt_started', attempts: ['preparing crashed', done], ledger: ['applied'], calls: 1, report: recovered },
  { point: 'before_script', attempts: ['preparing crashed', done], ledger: ['applied'], calls: 1, report: recovered },
  { point: 'after_script', attempts: ['preparing crashed', done], ledger: ['applied'], calls: 1, report: recovered },
  ...(['mutation_in_flight', 'mutation_durable', 'mutation_called'] as const).map((point) => ({
    point,
    attempts: ['mutating paused:reconciliation'],
    ledger: ['indeterminate'],
    calls: point === 'mutation_called' ? 1 : 0,
    asked: true,
    report: { ...nothing, askedUser: 1, continuedRuns: 1 },
  })),
  {
    point: 'mutation_settled',
    attempts: ['emitting crashed', done],
    ledger: ['applied'],
    calls: 1,
    report: recovered,
  },
  {
    point: 'attempt_committed',
    attempts: [done],
    ledger: ['applied'],
    calls: 1,
    report: { ...nothing, continuedRuns: 1 },
  },
  {
    point: 'run_finished',
    attempts: [done],
    ledger: ['applied'],
    calls: 1,
    report: { ...nothing, continuedRuns: 0 },
  },
]

const recoveryDeaths = ['recovery_begun', 'recovery_marked', 'recovery_done'] as const

describe('a producer that dies at', () => {
  test.each(producerDeaths)(
    '$point has published everything once',
    async ({ point, attempts: expected, report: counts }) => {
      await dieAndReturn(point, () => world.deploy(producerScript(publishTwo)))
      expect(attempts()).toEqual(expected)
      expect(world.rows(`SELECT message_id, status FROM events ORDER BY id`)).toEqual([
        { message_id: 'a', status: 'pending' },
        { message_id: 'b', status: 'pending' },
      ])
      expect(world.value(`SELECT state FROM handler_state`)).toBe('{"polls":1}')
      expect(report()).toEqual(counts)
      expect(world.rows(`SELECT result FROM script_runs`)).toEqual([{ result: 'completed' }])
    },
  )

  test('attempt_failed waits for its retry like before', async () => {
    world.box.answers.push(failed('network'))
    await dieAndReturn('attempt_failed', () =>
      world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get(1) }`)),
    )
    expect(attempts()).toEqual(['executing paused:transient'])
    expect(report()).toEqual({ ...nothing, continuedRuns: 0 })
    world.clock.advance(2000)
    await world.settle()
    expect(attempts()).toEqual(['executing paused:transient', done])
  })

  test('retry_started is tried again', async () => {
    world.box.answers.push(failed('network'))
    await world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get(1) }`))
    await world.settle()
    await dieAndReturn('retry_started', () => {
      world.clock.advance(2000)
      return Promise.resolve()
    })
    expect(attempts()).toEqual(['executing paused:transient', 'executing crashed', done])
    expect(report()).toEqual({ ...nothing, recoveredRuns: 1, continuedRuns: 1 })
  })
})

describe('a consumer that dies at', () => {
  test.each(consumerDeaths)(
    '$point ends its event exactly once or asks',
    async ({ point, attempts: expected, ledger, calls, asked = false, report: counts }) => {
      const id = await world.deploy(consumerScript())
      await world.settle()
      await dieAndReturn(point, () => world.publish(id))
      const looks = `prepare_result NOT LIKE '%"reservations":[]%' OR prepare_result IS NULL`
      expect(attempts(looks)).toEqual(expected)
      expect(world.rows(`SELECT status FROM mutations ORDER BY id`).map(({ status }) => status)).toEqual(ledger)
      expect(world.box.calls).toHaveLength(calls)
      expect(report()).toEqual(counts)
      expect(world.questions().map(({ kind }) => kind)).toEqual(asked ? ['indeterminate_mutation'] : [])
      expect(world.value(`SELECT status FROM events WHERE caused_by = '[]'`)).toBe(asked ? 'reserved' : 'consumed')
      expect(world.value(`SELECT count(*) FROM events WHERE caused_by <> '[]'`)).toBe(asked ? 0 : 1)
    },
  )

  test('escalation_resolved does as it was told', async () => {
    const id = await world.deploy(consumerScript())
    world.box.answers.push(failed('network', 'uncertain'))
    await world.publish(id)
    await world.settle()
    world.dieAt('escalation_resolved')
    await expect(world.resolve('did_not_happen')).rejects.toThrow()
    await world.crash()
    await world.settle()
    expect(world.box.calls).toHaveLength(2)
    expect(world.value(`SELECT status FROM events WHERE caused_by = '[]'`)).toBe('consumed')
  })
})

test('a consumer that dies after it looked whether its mutation happened looks again, and asks nobody', async () => {
  world.box.checks = [
    { kind: 'applied', value: 1 },
    { kind: 'applied', value: 2 },
  ]
  const id = await world.deploy(consumerScript())
  await world.settle()
  world.box.answers.push(failed('network', 'uncertain'))
  await dieAndReturn('mutation_reconciled', () => world.publish(id))
  expect(world.rows(`SELECT status, result, resolved_by FROM mutations`)).toEqual([
    { status: 'applied', result: '2', resolved_by: 'reconciled' },
  ])
  expect(report()).toEqual({ ...nothing, recoveredRuns: 1, continuedRuns: 1 })
  expect(world.box.calls).toHaveLength(1)
  expect(world.questions()).toEqual([])
})

describe('a recovery that dies at', () => {
  test.each(recoveryDeaths)('%s is done again, and counts as no crash of the handler', async (point) => {
    world.dieAt('after_script')
    await world.deploy(producerScript(publishTwo))
    await world.until(() => world.isDead())
    // What is marked once is not marked again, so that point can be reached only once.
    for (let n = 0; n < (point === 'recovery_marked' ? 1 : 3); n += 1) {
      world.dieAt(point)
      await world.crash().catch(() => undefined)
    }
    await world.crash()
    await world.settle()
    expect(attempts()).toEqual(['executing crashed', done])
    expect(world.value(`SELECT count(*) FROM events`)).toBe(2)
  })
})

test('every crash point there is has its death here, or with what it belongs to', () => {
  const single: CrashPoint[] = ['attempt_failed', 'retry_started', 'escalation_resolved', 'mutation_reconciled']
  // retention/retention.crash.test.ts
  const ofRetention: CrashPoint[] = ['archive_written', 'archive_rows_deleted', 'archive_rows_restored']
  const covered = new Set(
    [...producerDeaths, ...consumerDeaths].map(({ point }) => point).concat(single, ofRetention, recoveryDeaths),
  )
  expect(crashPoints.filter((point) => !covered.has(point))).toEqual([])
})

describe('a workflow that must not run', () => {
  test('because it is paused has its runs marked, and they go on when it is resumed', async () => {
    world.dieAt('after_script')
    const deploying = world.engine.deployWorkflow({ source: producerScript(publishTwo) })
    await deploying.catch(() => undefined)
    await world.until(() => world.isDead())
    world.change(`UPDATE workflows SET status = 'paused'`)
    await world.crash()
    await world.settle()
    expect(attempts()).toEqual(['executing crashed'])
    expect(report()).toEqual({ ...nothing, recoveredRuns: 1, continuedRuns: 1 })
    await world.engine.resumeWorkflow(String(world.value(`SELECT id FROM workflows`)))
    await world.settle()
    expect(attempts()).toEqual(['executing crashed', done])
  })

  test('because it is blocked retries nothing after a restart until its question is settled', async () => {
    const id = await world.deploy(
      workflowScript({
        producers: { poll: { handler: `async handler(s, ctx) { await ctx.box.get('poll') }` } },
        consumers: { carry: {} },
      }),
    )
    await world.settle()
    world.box.answers.push(failed('network'), failed('auth'))
    await world.publish(id)
    await world.settle()
    await world.engine.runWorkflow(id)
    await world.settle()
    expect(world.value(`SELECT block_kind FROM workflows`)).toBe('auth')
    await world.crash()
    world.clock.advance(60_000)
    await world.settle()
    expect(world.box.calls.filter(({ method }) => method === 'send')).toHaveLength(1)
    await world.resolve('reconnect')
    await world.settle()
    expect(world.value(`SELECT status FROM events`)).toBe('consumed')
    expect(world.engine.listWorkflows()).toMatchObject([{ state: 'idle' }])
  })
})

describe('a start', () => {
  test('recovers every workflow, each in its own way, and counts them', async () => {
    const asked = await world.deploy(consumerScript())
    await world.settle()
    world.box.answers.push('never', 'never')
    await world.publish(asked)
    await world.until(() => world.box.calls.length === 1)
    await world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get('poll') }`))
    await world.until(() => world.box.calls.length === 2)
    await world.crash()
    await world.settle()
    expect(report()).toEqual({ recoveredRuns: 1, askedUser: 1, gaveUp: 0, continuedRuns: 2 })
    expect(world.engine.listWorkflows().map(({ state }) => state)).toEqual(['needs_you', 'idle'])
  })

  test('after nothing happened has nothing to report', async () => {
    await world.deploy(producerScript(publishTwo))
    await world.settle()
    await world.crash()
    expect(report()).toEqual({ ...nothing, continuedRuns: 0 })
  })

  test('keeps the promise of "Run now": producers that it had not come to yet still run', async () => {
    const id = await world.deploy(
      workflowScript({
        producers: { alpha: { handler: `async handler() {}` }, beta: { handler: `async handler() {}` } },
      }),
    )
    await world.settle()
    await dieAndReturn('attempt_committed', () => world.engine.runWorkflow(id))
    expect(
      world.rows(
        `SELECT handler_name FROM handler_runs WHERE script_run_id = (SELECT id FROM script_runs WHERE "trigger" = 'manual')`,
      ),
    ).toEqual([{ handler_name: 'alpha' }, { handler_name: 'beta' }])
  })

  test('that finds the rows at odds with each other says so', async () => {
    const id = await world.deploy(consumerScript())
    await world.publish(id)
    await world.settle()
    world.change(`UPDATE script_runs SET handler_run_count = 77 WHERE id = (SELECT max(id) FROM script_runs)`)
    await world.crash()
    expect(world.engine.info().lastRecovery?.violations).toEqual([expect.stringContaining('counts 77 handler runs')])
  })
})
