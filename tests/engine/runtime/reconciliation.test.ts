import { beforeEach, describe, expect, test } from 'vitest'
import { failed, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript } from '../../support/scripts.ts'

let world: TestEngine
let id: string

beforeEach(async () => {
  world = await openTestEngine()
  world.box.checks = []
  id = await world.deploy(consumerScript())
  await world.settle()
})

const checks = (): number => world.trail.filter((entry) => entry === 'box.check').length
const ledger = (): Record<string, unknown>[] =>
  world.rows(`SELECT status, result, resolved_by FROM mutations ORDER BY id`)
const eventStatus = (): unknown => world.value(`SELECT status FROM events WHERE message_id = 'm1' AND caused_by = '[]'`)

/** Sends the event to a box that does not say whether it took it. */
const sendInDoubt = async (...found: NonNullable<TestEngine['box']['checks']>): Promise<void> => {
  world.box.answers.push(failed('network', 'uncertain'))
  world.box.checks = found
  await world.publish(id)
  await world.until(() => checks() > 0)
}

/** Lets all the looks happen that there are. */
const lookToTheEnd = async (): Promise<void> => {
  const before = checks()
  for (const waitMs of [1000, 2000, 4000, 8000]) {
    const seen = checks()
    await new Promise((resolve) => setImmediate(resolve))
    world.clock.advance(waitMs)
    await world.until(() => checks() > seen)
  }
  await world.settle()
  expect(checks() - before).toBe(4)
}

/** Lets the second look come: a second after the first. */
const lookAgain = async (): Promise<void> => {
  await world.until(() => checks() === 1)
  await new Promise((resolve) => setImmediate(resolve))
  world.clock.advance(1000)
  await world.until(() => checks() === 2)
}

describe('an outcome that is open and can be looked up', () => {
  test('is looked up first: what happened goes on with what was found, and nobody is asked', async () => {
    await sendInDoubt({ kind: 'applied', value: { row: 7 } })
    await world.settle()
    expect(ledger()).toEqual([{ status: 'applied', result: '{"row":7}', resolved_by: 'reconciled' }])
    expect(eventStatus()).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
    expect(world.value(`SELECT count(*) FROM escalations`)).toBe(0)
  })

  test('is not there yet at the first look and there at the second: it happened, and is not sent again', async () => {
    await sendInDoubt({ kind: 'not_applied' }, { kind: 'applied', value: 1 })
    await lookAgain()
    await world.settle()
    expect(ledger()).toMatchObject([{ status: 'applied', resolved_by: 'reconciled' }])
    expect(world.box.calls).toHaveLength(1)
  })

  test('did not happen, as two looks in a row say: it is tried again by itself, with the same key', async () => {
    await sendInDoubt({ kind: 'not_applied' }, { kind: 'not_applied' })
    await lookAgain()
    await world.settle()
    expect(ledger()).toEqual([{ status: 'failed', result: null, resolved_by: 'reconciled' }])
    world.clock.advance(2000)
    await world.settle()
    expect(ledger().at(-1)).toMatchObject({ status: 'applied' })
    expect(world.box.calls[1]?.key).toBe(world.box.calls[0]?.key)
    expect(eventStatus()).toBe('consumed')
  })

  test('did not happen and cannot any more, as its tool says: one look is enough', async () => {
    await sendInDoubt({ kind: 'not_applied', isFinal: true })
    await world.settle()
    expect(checks()).toBe(1)
    expect(ledger()).toEqual([{ status: 'failed', result: null, resolved_by: 'reconciled' }])
    world.clock.advance(2000)
    await world.settle()
    expect(ledger().at(-1)).toMatchObject({ status: 'applied' })
    expect(checks()).toBe(1)
  })

  test('is looked at again when it cannot be seen at once', async () => {
    await sendInDoubt({ kind: 'unknown', message: 'not yet' }, 'throw', { kind: 'applied', value: 1 })
    for (const waitMs of [1000, 2000]) {
      const seen = checks()
      await new Promise((resolve) => setImmediate(resolve))
      world.clock.advance(waitMs)
      await world.until(() => checks() > seen)
    }
    await world.settle()
    expect(ledger()).toMatchObject([{ status: 'applied', resolved_by: 'reconciled' }])
  })

  test('that nobody can see after five looks is asked of a person, who may have it looked up again', async () => {
    await sendInDoubt()
    await lookToTheEnd()
    expect(checks()).toBe(5)
    expect(ledger()).toEqual([{ status: 'indeterminate', result: null, resolved_by: null }])
    expect(world.questions()).toMatchObject([
      {
        message: 'The box said network. Checking did not help: The box is shut.',
        actions: ['happened', 'did_not_happen', 'skip', 'check_again'],
      },
    ])
    expect(eventStatus()).toBe('reserved')
    world.box.checks = [{ kind: 'applied', value: 3 }]
    await world.resolve('check_again')
    await world.settle()
    expect(ledger()).toEqual([{ status: 'applied', result: '3', resolved_by: 'reconciled' }])
    expect(eventStatus()).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
  })

  test('looked up again in vain is asked anew', async () => {
    await sendInDoubt()
    await lookToTheEnd()
    await world.resolve('check_again')
    await world.until(() => checks() === 6)
    await lookToTheEnd()
    expect(world.rows(`SELECT resolution FROM escalations ORDER BY id`)).toEqual([
      { resolution: 'check_again' },
      { resolution: null },
    ])
    await world.resolve('did_not_happen')
    await world.settle()
    expect(world.box.calls).toHaveLength(2)
    expect(eventStatus()).toBe('consumed')
  })
})

describe('a look that breaks', () => {
  test('the first time asks a person and keeps the events', async () => {
    await sendInDoubt('throw at once')
    await world.settle()
    expect(ledger()).toMatchObject([{ status: 'indeterminate' }])
    expect(eventStatus()).toBe('reserved')
    expect(world.questions()).toMatchObject([{ kind: 'indeterminate_mutation', details: { tool: 'box.send' } }])
  })

  test('when it is done again asks again: the events are not given to an attempt that would send them twice', async () => {
    await sendInDoubt()
    await lookToTheEnd()
    world.box.checks = ['throw at once']
    await world.resolve('check_again')
    await world.settle()
    expect(ledger()).toMatchObject([{ status: 'indeterminate' }])
    expect(eventStatus()).toBe('reserved')
    expect(world.questions()).toMatchObject([{ kind: 'indeterminate_mutation' }])
    expect(world.box.calls).toHaveLength(1)
  })
})

describe('a mutation that was in flight when the tab died', () => {
  beforeEach(async () => {
    world.box.answers.push('never')
    await world.publish(id)
    await world.until(() => world.box.calls.length === 1)
  })

  test('is looked up on the next start', async () => {
    world.box.checks = [{ kind: 'applied', value: 1 }]
    await world.crash()
    await world.settle()
    expect(world.engine.info().lastRecovery).toMatchObject({ recoveredRuns: 1, askedUser: 0, violations: [] })
    expect(ledger()).toMatchObject([{ status: 'applied', resolved_by: 'reconciled' }])
    expect(eventStatus()).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
  })

  test('and certainly did not happen is tried again at once: nobody refused it, so there is nothing to wait for', async () => {
    world.box.checks = [{ kind: 'not_applied' }, { kind: 'not_applied' }]
    await world.crash()
    await lookAgain()
    await world.settle()
    expect(ledger()).toMatchObject([
      { status: 'failed', result: null, resolved_by: 'reconciled' },
      { status: 'applied', resolved_by: null },
    ])
    const attempts = `SELECT status, retries_used FROM handler_runs WHERE id IN (SELECT handler_run_id FROM mutations) ORDER BY id`
    expect(world.rows(attempts)).toMatchObject([
      { status: 'crashed', retries_used: 0 },
      { status: 'committed', retries_used: 0 },
    ])
    expect(world.box.calls[1]?.key).toBe(world.box.calls[0]?.key)
    expect(eventStatus()).toBe('consumed')
  })

  test('and did not happen three times in a row is not tried a fourth time: the script may be what kills the tab', async () => {
    for (const death of [1, 2, 3]) {
      world.box.answers.push('never')
      world.box.checks = [{ kind: 'not_applied' }, { kind: 'not_applied' }]
      const looked = checks()
      await world.crash()
      await world.until(() => checks() === looked + 1)
      await new Promise((resolve) => setImmediate(resolve))
      world.clock.advance(1000)
      await world.until(() => checks() === looked + 2)
      if (death < 3) await world.until(() => world.box.calls.length === death + 1)
    }
    await world.settle()
    expect(world.box.calls).toHaveLength(3)
    expect(world.questions()).toMatchObject([{ kind: 'internal_failure' }])
    expect(ledger().map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
  })

  test('waits with the look until its workflow is resumed', async () => {
    await world.engine.pauseWorkflow(id)
    world.box.checks = [{ kind: 'not_applied' }, { kind: 'not_applied' }]
    await world.crash()
    await world.settle()
    expect(checks()).toBe(0)
    await world.engine.resumeWorkflow(id)
    await lookAgain()
    await world.settle()
    expect(checks()).toBe(2)
    world.clock.advance(2000)
    await world.settle()
    expect(eventStatus()).toBe('consumed')
  })
})
