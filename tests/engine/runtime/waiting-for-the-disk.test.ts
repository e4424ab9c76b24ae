import { expect, test } from 'vitest'
import { openTestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript, publishTwo } from '../../support/scripts.ts'

/** What was waited for since `from`, without the wait of `settle` itself. */
const waitsOf = (trail: string[], from: number): string[] =>
  trail.slice(from, trail.lastIndexOf('barrier')).filter((each) => each === 'barrier' || each === 'box.send')

test('an event is carried with one wait for the disk, before its mutation, besides that of the command', async () => {
  const world = await openTestEngine()
  const id = await world.deploy(consumerScript())
  await world.settle()
  const from = world.trail.length
  await world.publish(id)
  await world.settle()
  expect(waitsOf(world.trail, from)).toEqual(['barrier', 'barrier', 'box.send'])
})

test('a handler without a mutation waits for the disk nowhere', async () => {
  const world = await openTestEngine()
  const id = await world.deploy(consumerScript({ mutate: null }))
  await world.settle()
  const from = world.trail.length
  await world.publish(id)
  await world.settle()
  expect(world.value(`SELECT status FROM events WHERE message_id = 'm1'`)).toBe('consumed')
  expect(waitsOf(world.trail, from)).toEqual(['barrier'])
})

test('a producer that publishes waits for the disk nowhere', async () => {
  const world = await openTestEngine()
  await world.deploy(producerScript(publishTwo))
  await world.settle()
  const from = world.trail.length
  world.clock.advance(5 * 60_000)
  await world.settle()
  expect(world.value('SELECT count(*) FROM handler_runs')).toBe(2)
  expect(waitsOf(world.trail, from)).toEqual([])
})
