import { beforeEach, expect, test } from 'vitest'
import { consumerScript, producerScript, publishTwo } from '../../support/scripts.ts'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const nextRunAt = (): number => Number(world.value('SELECT next_run_at FROM producer_schedules'))
const runs = (): unknown => world.value('SELECT count(*) FROM handler_runs')

test.each([
  ['noticed by the scheduler', () => world.engine.idle()],
  ['noticed by the next start', () => world.crash()],
])('by days, a producer runs on the beats of the new time (%s)', async (_, notice) => {
  await world.deploy(producerScript(publishTwo, `{ interval: '1h' }`))
  await world.settle()
  world.clock.jump(-10 * DAY)
  await notice()
  await world.settle()
  expect(nextRunAt() - world.clock.now()).toBeLessThanOrEqual(HOUR)
  expect(runs()).toBe(1)
  world.clock.advance(HOUR)
  await world.settle()
  expect(runs()).toBe(2)
})

test('by less than a beat, nothing is served again', async () => {
  await world.deploy(producerScript(publishTwo, `{ interval: '1h' }`))
  await world.settle()
  const planned = nextRunAt()
  world.clock.jump(-10_000)
  world.engine.look()
  world.clock.advance(60_000)
  await world.settle()
  expect([nextRunAt(), runs()]).toEqual([planned, 1])
})

test('in the middle of a producer, its next beat is one of the new time', async () => {
  const held = heldAnswer()
  world.box.answers.push(held.answer)
  await world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get(1) }`, `{ interval: '1h' }`))
  await world.until(() => world.box.calls.length === 1)
  world.clock.jump(-10 * DAY)
  world.engine.look()
  held.give()
  await world.settle()
  expect(nextRunAt() - world.clock.now()).toBeLessThanOrEqual(HOUR)
})

test('a retry waits as long as it was to wait', async () => {
  world.box.answers.push(failed('network'))
  await world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get(1) }`, `{ interval: '1h' }`))
  await world.settle()
  const waits = Number(world.value('SELECT retry_at - end_timestamp FROM handler_runs'))
  world.clock.jump(-10 * DAY)
  world.engine.look()
  expect(world.value('SELECT retry_at FROM handler_runs')).toBe(world.clock.now() + waits)
})

test('a consumer that waits for a time looks at once and says anew', async () => {
  const waiting = consumerScript({
    prepare: `async prepare(state, ctx) {
      return { reservations: [], data: {}, wakeAt: new Date(Date.now() + 3600000).toISOString() } }`,
  })
  await world.deploy(waiting)
  await world.settle()
  world.clock.jump(-10 * DAY)
  world.engine.look()
  await world.settle()
  expect(Number(world.value('SELECT wake_at FROM handler_state')) - world.clock.now()).toBeLessThanOrEqual(DAY)
  expect(runs()).toBe(2)
})
