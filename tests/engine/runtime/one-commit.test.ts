import { describe, expect, test } from 'vitest'
import type { PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { Store } from '#engine/ports/store.ts'
import { type AheadSandbox, createAheadSandbox } from '../../support/ahead-sandbox.ts'
import { createInProcessSandbox } from '../../support/in-process-sandbox.ts'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishTwo } from '../../support/scripts.ts'

interface Carrying {
  world: TestEngine
  id: string
  ahead: AheadSandbox
  /** Lets the mutation of the first event end. */
  answer: ReturnType<typeof heldAnswer>['give']
}

const openAhead = async (planted?: (store: Store) => Store): Promise<Omit<Carrying, 'id' | 'answer'>> => {
  const ahead = createAheadSandbox(createInProcessSandbox())
  const world = await openTestEngine({}, undefined, { ahead, ...(planted === undefined ? {} : { planted }) })
  return { world, ahead }
}

/** The mutation of m1 is on its way, and `others` more events wait: whatever follows is run ahead. */
const carry = async (
  others: number,
  { world, ahead }: Omit<Carrying, 'id' | 'answer'>,
  script = consumerScript(),
): Promise<Carrying> => {
  const held = heldAnswer()
  world.box.answers = [held.answer]
  const id = await world.deploy(script)
  await world.settle()
  await world.publish(id, 'm1', { n: 1 })
  await world.until(() => world.box.calls.length === 1)
  for (let n = 2; n <= others + 1; n += 1) await world.publish(id, `m${String(n)}`, { n })
  return { world, id, ahead, answer: held.give }
}

const commitsFor = async (others: number): Promise<number> => {
  const { world, answer } = await carry(others, await openAhead())
  const before = world.commits()
  answer()
  await world.settle()
  expect(world.rows(`SELECT DISTINCT status FROM events WHERE message_id LIKE 'm%'`)).toContainEqual({
    status: 'consumed',
  })
  return world.commits() - before
}

const written = (world: TestEngine): unknown => ({
  attempts: world.rows(`SELECT handler_name, phase, status, attempt, retries_used, prepare_result, mutation_outcome,
    mutation_result, input_state, output_state, error, cost, phase_times FROM handler_runs ORDER BY id`),
  ledger: world.rows('SELECT status, tool_method, params, result, error, created_at FROM mutations ORDER BY id'),
  events: world.rows('SELECT message_id, title, payload, status FROM events ORDER BY id'),
  runs: world.rows('SELECT trigger, result, handler_run_count, cost FROM script_runs ORDER BY id'),
  states: world.rows('SELECT handler_name, state, wake_at FROM handler_state ORDER BY handler_name'),
  logs: world.rows('SELECT phase, level, message FROM logs ORDER BY id'),
})

/** Throws in the nth transaction of the first group that has so many, once it is armed. */
const failingOnce = (nth: number): { planted: (store: Store) => Store; arm: () => void; failures: () => number } => {
  let count: number | null = null
  let isArmed = false
  let failures = 0
  const planted = (store: Store): Store => ({
    ...store,
    together: (work) => {
      count = isArmed ? 0 : null
      try {
        return store.together(work)
      } finally {
        count = null
      }
    },
    transaction: (work) =>
      store.transaction((tx) => {
        const value = work(tx)
        if (count !== null && (count += 1) === nth && failures === 0) {
          failures += 1
          throw new Error('Planted.')
        }
        return value
      }),
  })
  const arm = (): void => {
    isArmed = true
  }
  return { planted, arm, failures: () => failures }
}

/** Every phase is at hand at any time. */
const allAtHand = (): AheadSandbox => ({
  ...createAheadSandbox(createInProcessSandbox()),
  takeAtHand: ({ phase, host }): PhaseOutcome | undefined => {
    if (phase !== 'prepare') return { kind: 'returned', value: undefined }
    const peeked = host.foresee?.('topics.peek', '["item",{"limit":1}]')
    peeked?.taken()
    const ids = (JSON.parse(peeked?.value ?? '[]') as { messageId: string }[]).map(({ messageId }) => messageId)
    const reservations = ids.length === 0 ? [] : [{ topic: 'item', ids }]
    return { kind: 'returned', value: JSON.stringify({ reservations, data: {} }) }
  },
})

describe('an event whose phases were run ahead', () => {
  test('is not undone where nothing fails', async () => {
    const { world, answer } = await carry(3, await openAhead())
    answer()
    await world.settle()
    expect(world.engine.info().undone).toBeNull()
  })

  test('costs one commit', async () => {
    expect((await commitsFor(6)) - (await commitsFor(5))).toBe(1)
  })

  test('leaves in the tables what it would have left there by itself', async () => {
    const { world, ahead, answer } = await carry(3, await openAhead())
    answer()
    await world.settle()
    const plain = await carry(3, { world: await openTestEngine(), ahead })
    plain.answer()
    await plain.world.settle()
    expect(written(world)).toEqual(written(plain.world))
    expect(world.box.calls.map(({ params }) => params)).toEqual(plain.world.box.calls.map(({ params }) => params))
  })

  test('has its mutation on the disk as in flight before the call', async () => {
    const { world, answer } = await carry(1, await openAhead())
    const release = world.holdBarrier()
    answer()
    const second = `SELECT status FROM mutations WHERE params = '{"n":2}'`
    await world.until(() => world.value(second) !== undefined)
    await new Promise((resolve) => setImmediate(resolve))
    expect(world.value(second)).toBe('in_flight')
    expect(world.box.calls).toHaveLength(1)
    release()
    await world.settle()
    expect(world.box.calls).toHaveLength(2)
    expect(world.trail.slice(0, world.trail.lastIndexOf('box.send')).at(-1)).toBe('durable')
  })

  test('is lost whole when the tab dies, and what was in flight before it is asked about', async () => {
    const { world, answer } = await carry(1, await openAhead())
    world.dieAt('attempt_committed')
    answer()
    await world.until(() => world.isDead())
    // The point is reached only when all of the group is committed.
    expect(world.value(`SELECT status FROM mutations WHERE params = '{"n":2}'`)).toBe('in_flight')
    await world.crash()
    await world.settle()
    expect(world.box.calls).toHaveLength(1)
    expect(world.questions()).toMatchObject([{ kind: 'indeterminate_mutation' }])
    await world.resolve('happened')
    await world.settle()
    expect(world.rows(`SELECT status FROM events WHERE message_id LIKE 'm%'`)).toContainEqual({ status: 'consumed' })
  })
})

test('what leads to the first phase of a run is one commit, also where nothing was run ahead', async () => {
  const { world } = await openAhead()
  const id = await world.deploy(consumerScript())
  await world.settle()
  const atStart: number[] = []
  const before = world.commits()
  world.onReach = (point) => {
    if (point === 'attempt_started') atStart.push(world.commits() - before)
  }
  await world.publish(id)
  await world.settle()
  // The event itself, and then the run with its first attempt.
  expect(atStart[0]).toBe(2)
})

describe('a commit of several transitions that fails', () => {
  test.each([1, 2, 3, 4, 5])('in its transition %i loses no outcome and sends nothing twice', async (nth) => {
    const { planted, arm, failures } = failingOnce(nth)
    const { world, answer } = await carry(2, await openAhead(planted))
    arm()
    answer()
    await world.settle()
    expect(failures()).toBe(1)
    expect(world.engine.info().undone).toEqual({ count: 1, lastReason: 'Error: Planted.' })
    expect(world.box.calls.map(({ params }) => params)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    expect(world.rows('SELECT DISTINCT status FROM mutations')).toEqual([{ status: 'applied' }])
    expect(
      world.rows(`SELECT message_id, status FROM events WHERE message_id LIKE 'm%' AND payload LIKE '{"n%'`),
    ).toEqual(['m1', 'm2', 'm3'].map((message_id) => ({ message_id, status: 'consumed' })))
    const plain = await carry(2, { world: await openTestEngine(), ahead: createAheadSandbox(createInProcessSandbox()) })
    plain.answer()
    await plain.world.settle()
    expect(written(world)).toEqual(written(plain.world))
  })

  test('has asked nobody to bring it to the disk', async () => {
    const flushes = (): number => world.trail.filter((each) => each === 'flush').length
    const flushesAtFailure: number[] = []
    const planted = (store: Store): Store => ({
      ...store,
      together: (work) =>
        store.together(() => {
          const value = work()
          if (answered === null || flushesAtFailure.length > 0) return value
          flushesAtFailure.push(flushes() - answered)
          throw new Error('Planted.')
        }),
    })
    let answered: number | null = null
    const { world, answer } = await carry(1, await openAhead(planted))
    answered = flushes()
    answer()
    await world.settle()
    expect(flushesAtFailure).toEqual([0])
    expect(flushes()).toBe(answered + 2)
  })

  test('leaves what is remembered outside of the tables as it was: an event that nobody has looked at is looked at', async () => {
    const { planted, arm, failures } = failingOnce(3)
    const world = await openTestEngine({}, undefined, { ahead: allAtHand(), planted })
    const id = await world.deploy(consumerScript({ mutate: null }))
    await world.settle()
    arm()
    // The run is opened, the attempt is started, and what its prepare returned cannot be written.
    await world.publish(id)
    await world.settle()
    expect(failures()).toBe(1)
    expect(world.value(`SELECT status FROM events WHERE message_id = 'm1'`)).toBe('consumed')
  })
})

describe('while the mutation is on its way', () => {
  test('pausing the workflow keeps its outcome, and nothing else begins until it is resumed', async () => {
    const { world, id, answer } = await carry(1, await openAhead())
    await world.engine.pauseWorkflow(id)
    answer()
    await world.settle()
    expect(world.rows('SELECT status FROM mutations')).toEqual([{ status: 'applied' }])
    expect(world.value('SELECT phase FROM handler_runs ORDER BY id DESC LIMIT 1')).toBe('mutated')
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.box.calls).toHaveLength(2)
    expect(world.rows('SELECT DISTINCT status FROM mutations')).toEqual([{ status: 'applied' }])
  })

  test('its attempt cannot be cancelled, and comes to its end', async () => {
    const { world, answer } = await carry(1, await openAhead())
    const runId = String(world.value(`SELECT id FROM handler_runs WHERE status = 'active'`))
    const cancelled = world.engine.internals.transitions.cancelAttempt(runId, 'Never mind.')
    expect(cancelled.ok).toBe(false)
    answer()
    await world.settle()
    expect(world.value(`SELECT status FROM handler_runs WHERE id = ?`, runId)).toBe('committed')
  })

  test('deleting the workflow ends it, and nothing is written', async () => {
    const { world, id, answer } = await carry(1, await openAhead())
    await world.engine.deleteWorkflow(id)
    answer()
    await world.settle()
    expect(world.value('SELECT count(*) FROM handler_runs')).toBe(0)
    expect(world.box.calls).toHaveLength(1)
    expect(world.engine.info()).toMatchObject({ state: 'running', fatal: null, undone: null })
  })

  test('losing the data to another tab stops the engine, and no commit was undone', async () => {
    const { world, answer } = await carry(1, await openAhead())
    world.failBarriers()
    answer()
    await world.until(() => world.engine.info().state !== 'running')
    expect(world.engine.info()).toMatchObject({ state: 'stopped', undone: null })
    expect(world.box.calls).toHaveLength(1)
  })

  test.each([
    ['a failure', failed('network'), 'failed', 'paused:transient'],
    ['an unknown outcome', failed('network', 'uncertain'), 'indeterminate', 'paused:reconciliation'],
  ])('%s is recorded as ever, and what was run ahead is not used', async (_name, outcome, entry, status) => {
    const { world, id, ahead, answer } = await carry(1, await openAhead())
    await ahead.runAhead(id, 'done')
    answer(outcome)
    await world.until(() => world.value('SELECT status FROM mutations') !== 'in_flight')
    await world.settle()
    expect(world.rows('SELECT status FROM mutations ORDER BY id LIMIT 1')).toEqual([{ status: entry }])
    expect(world.value(`SELECT status FROM handler_runs WHERE prepare_result LIKE '%m1%' ORDER BY id LIMIT 1`)).toBe(
      status,
    )
  })
})

test('what a producer publishes for a workflow that was deleted meanwhile is no undone commit', async () => {
  const ahead = createAheadSandbox(createInProcessSandbox())
  let goOn = (): void => undefined
  const isPublished = new Promise<void>((resolve) => (goOn = resolve))
  const held = {
    ...ahead,
    runPhase: async (request: PhaseRequest): Promise<PhaseOutcome> => {
      const outcome = await ahead.runPhase(request)
      await isPublished
      return outcome
    },
  }
  const world = await openTestEngine({}, undefined, { ahead: held })
  const id = await world.deploy(producerScript(publishTwo))
  world.clock.advance(5 * 60_000)
  await world.until(() => world.value(`SELECT count(*) FROM handler_runs WHERE status = 'active'`) === 1)
  await world.engine.deleteWorkflow(id)
  goOn()
  await world.settle()
  expect(world.engine.info()).toMatchObject({ state: 'running', undone: null })
})

test('no more than eight attempts are in one commit', async () => {
  const world = await openTestEngine({}, undefined, { ahead: allAtHand() })
  const id = await world.deploy(consumerScript({ mutate: null }))
  await world.settle()
  await world.engine.pauseWorkflow(id)
  for (let n = 1; n <= 20; n += 1) await world.publish(id, `m${String(n)}`)
  const attemptsIn: number[] = []
  let known = Number(world.value('SELECT count(*) FROM handler_runs'))
  world.onReach = (point) => {
    if (point !== 'attempt_started') return
    const now = Number(world.value('SELECT count(*) FROM handler_runs'))
    if (now > known) attemptsIn.push(now - known)
    known = now
  }
  await world.engine.resumeWorkflow(id)
  await world.settle()
  expect(attemptsIn).toEqual([8, 8, 5])
  expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBe(20)
})
