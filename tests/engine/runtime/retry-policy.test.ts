import { beforeEach, describe, expect, test } from 'vitest'
import { defaultRetryPolicy, type RetryPolicy } from '#engine/model/retry-policy.ts'
import { agent } from '../../support/agents.ts'
import { consumerScript } from '../../support/scripts.ts'
import { openSessionWorld } from '../../support/session-world.ts'
import { failed, openTestEngine, type TestEngine } from '../../support/test-engine.ts'

const seconds = 1000
const slow: RetryPolicy = { retries: 2, firstDelayMs: 10 * seconds, factor: 3, longestDelayMs: 20 * seconds }

let world: TestEngine
let id: string

beforeEach(async () => {
  world = await openTestEngine()
  id = await world.deploy(consumerScript({ next: null }))
  await world.settle()
})

const setPolicy = async (retryPolicy: RetryPolicy | null): Promise<void> => {
  expect(await world.engine.changeWorkflow(id, { retryPolicy })).toEqual({ ok: true, value: null })
}
const failTimes = async (times: number): Promise<void> => {
  world.box.answers.push(...Array.from({ length: times }, () => failed('network')))
  await world.publish(id)
  await world.settle()
}
const retryAt = (): unknown => world.value('SELECT max(retry_at) FROM handler_runs')
const sends = (): number => world.box.calls.length
const retriesUsed = (): unknown =>
  world.value(`SELECT retries_used FROM handler_runs WHERE error_type = 'network' ORDER BY id DESC`)
/** Moves time on until the retry that is waiting has run. */
const letRetryRun = async (): Promise<number> => {
  const waited = Number(retryAt()) - world.clock.now()
  world.clock.advance(waited)
  await world.settle()
  return waited
}

describe('a workflow with a retry policy of its own', () => {
  test('is tried again as often and after as long as it says, then a person is asked', async () => {
    await setPolicy(slow)
    await failTimes(3)
    for (const wait of [10, 20]) {
      expect(world.questions()).toEqual([])
      const waited = await letRetryRun()
      expect(waited).toBeGreaterThanOrEqual(wait * seconds)
      expect(waited).toBeLessThanOrEqual(wait * seconds * 1.3)
    }
    expect(world.questions()).toMatchObject([{ kind: 'retries_exhausted' }])
    expect(sends()).toBe(3)
  })

  test('that has no retries asks at the first failure', async () => {
    await setPolicy({ ...slow, retries: 0 })
    await failTimes(1)
    expect(world.questions()).toMatchObject([{ kind: 'retries_exhausted' }])
    expect(retryAt()).toBeNull()
    await world.resolve('retry')
    await world.settle()
    expect(world.value('SELECT status FROM events')).toBe('consumed')
  })

  test('still waits as long as the other side asked for', async () => {
    await setPolicy(slow)
    world.box.answers.push(failed('network', 'definite', 60 * seconds))
    await world.publish(id)
    await world.settle()
    expect(await letRetryRun()).toBe(60 * seconds)
  })

  test('still waits for a limit of the day, however few retries it has', async () => {
    await setPolicy({ ...slow, retries: 0 })
    await world.publish(id, 'first')
    await world.settle()
    await world.publish(id, 'late')
    world.onReach = (point) => {
      if (point !== 'before_script') return
      world.onReach = null
      void world.engine.changeWorkflow(id, { limits: { mutationsPerDay: 1 } })
    }
    await world.settle()
    expect(sends()).toBe(1)
    expect(world.questions()).toEqual([])
    world.clock.advance(86_400_000)
    await world.settle()
    expect(sends()).toBe(2)
  })

  test('keeps it through a death of the tab, a new version and a change of something else', async () => {
    await setPolicy(slow)
    await world.engine.deployWorkflow({ workflowId: id, source: consumerScript({ next: null }) })
    await world.engine.changeWorkflow(id, { budget: 50 })
    await world.crash()
    await failTimes(3)
    await letRetryRun()
    await letRetryRun()
    expect(world.questions()).toMatchObject([{ kind: 'retries_exhausted' }])
    expect(world.store.workflows.get(id)).toMatchObject({ retryPolicy: slow, retentionDays: null, budget: 50 })
  })

  test('goes back to that of everywhere with null', async () => {
    await setPolicy(slow)
    await setPolicy(null)
    expect(world.value('SELECT retry_policy FROM workflows')).toBeNull()
    await failTimes(6)
    for (let n = 0; n < 5; n += 1) await letRetryRun()
    expect(world.questions()).toMatchObject([{ kind: 'retries_exhausted' }])
  })
})

describe('a change of the policy', () => {
  test('leaves the retry that is planned where it is, and holds from the next failure on', async () => {
    await failTimes(2)
    const planned = retryAt()
    await setPolicy(slow)
    await world.settle()
    expect(retryAt()).toBe(planned)
    expect(sends()).toBe(1)
    expect(await letRetryRun()).toBeLessThanOrEqual(1300)
    expect(sends()).toBe(2)
    // The second wait of the new policy: 30 s, but no longer than 20.
    const waited = Number(retryAt()) - world.clock.now()
    expect(waited).toBeGreaterThanOrEqual(20 * seconds)
    expect(waited).toBeLessThanOrEqual(26 * seconds)
  })

  test('does not lose the planned retry to a death of the tab, not even with no retries left', async () => {
    await failTimes(3)
    await letRetryRun()
    await setPolicy({ ...slow, retries: 0 })
    await world.crash()
    await world.settle()
    expect(sends()).toBe(2)
    await letRetryRun()
    expect(sends()).toBe(3)
    // It was automatic, although more were used by then than the policy has now.
    expect(retriesUsed()).toBe(2)
    expect(world.questions()).toMatchObject([{ kind: 'retries_exhausted' }])
  })

  test('after the question does not make the retry of a person an automatic one', async () => {
    await setPolicy({ ...slow, retries: 1 })
    await failTimes(3)
    await letRetryRun()
    expect(world.questions()).toHaveLength(1)
    await setPolicy(defaultRetryPolicy)
    await world.resolve('retry')
    await world.settle()
    expect(retriesUsed()).toBe(0)
    expect(await letRetryRun()).toBeLessThanOrEqual(1300)
  })
})

test.each([
  [{ retryPolicy: { ...slow, retries: 1000 } }, 'from 0 to 100'],
  [{ retryPolicy: { ...slow, longestDelayMs: 1 } }, 'The longest wait'],
  [{ retryPolicy: 'often' }, '{ retries, firstDelayMs, factor, longestDelayMs }'],
  [{ retentionDays: -1 }, 'from 0 (keep for ever) to 36500'],
  [{ retentionDays: '7' }, 'whole number of days'],
])('a change to %j is refused with a sentence, and nothing is written', async (change, sentence) => {
  const before = world.dump('workflows')
  const answer = await world.engine.changeWorkflow(id, { name: 'Other', ...change } as object)
  expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
  expect(answer.ok ? '' : answer.error.message).toContain(sentence)
  expect(world.dump('workflows')).toBe(before)
})

test('the private workflow of an agent has neither: the session decides', async () => {
  const sessions = await openSessionWorld()
  await sessions.run([agent('a')])
  const own = String(sessions.value('SELECT id FROM workflows'))
  for (const change of [{ retryPolicy: slow }, { retentionDays: 7 }]) {
    expect(await sessions.engine.changeWorkflow(own, change)).toMatchObject({
      ok: false,
      error: { code: 'illegal_transition', message: expect.stringContaining('its session') as unknown },
    })
  }
  expect(await sessions.engine.changeWorkflow(own, { budget: 5 })).toMatchObject({ ok: true })
})
