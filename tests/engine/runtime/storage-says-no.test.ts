import { beforeEach, describe, expect, test } from 'vitest'
import { answered, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript } from '../../support/scripts.ts'

let world: TestEngine
let id: string

beforeEach(async () => {
  world = await openTestEngine()
  id = await world.deploy(consumerScript({ next: null }))
  await world.settle()
})

const ledger = (): unknown[] => world.rows('SELECT status FROM mutations ORDER BY id').map(({ status }) => status)
const eventStatuses = (): unknown[] => world.rows('SELECT status FROM events ORDER BY id').map(({ status }) => status)
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('when another tab has taken over in the middle of a mutation', () => {
  test('the engine stops: nothing is sent, nobody is asked, nothing more is written down', async () => {
    let before = ''
    world.onReach = (point) => {
      if (point === 'mutation_in_flight') before = world.dump()
    }
    world.failBarriers()
    await world.engine.publishEvent(id, 'item', { messageId: 'm1', payload: 1 })
    await world.until(() => world.engine.info().state !== 'running')
    expect(world.engine.info()).toMatchObject({ state: 'stopped', fatal: { name: 'OwnershipLost' } })
    await turns()
    expect(world.box.calls).toEqual([])
    expect(world.questions()).toEqual([])
    expect(world.dump()).toBe(before)
  })

  test('what else was under way ends with it: no other workflow starts anything', async () => {
    const other = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    world.failBarriers()
    await world.engine.publishEvent(id, 'item', { messageId: 'm1', payload: 1 })
    await world.until(() => world.engine.info().state === 'stopped')
    await world.engine.publishEvent(other, 'item', { messageId: 'm2', payload: 2 })
    await turns()
    expect(
      world.value('SELECT count(*) FROM handler_runs WHERE workflow_id = ? AND phase <> ?', other, 'committed'),
    ).toBe(0)
    expect(world.box.calls).toEqual([])
  })
})

describe('when the storage is full', () => {
  test('a mutation that is under way is finished and recorded in memory, nothing new starts, and with room it all goes on', async () => {
    const { answer, give } = heldAnswer()
    world.box.answers.push(answer)
    await world.publish(id)
    await world.until(() => world.box.calls.length === 1)
    const makeRoom = world.fillStorage()
    const second = world.publish(id, 'm2')
    give(answered())
    await world.until(() => ledger()[0] === 'applied')
    await turns()
    expect(ledger()).toEqual(['applied'])
    expect(eventStatuses()).toEqual(['consumed', 'pending'])
    expect(world.engine.info().state).toBe('running')

    makeRoom()
    await second
    await world.settle()
    expect(ledger()).toEqual(['applied', 'applied'])
    expect(eventStatuses()).toEqual(['consumed', 'consumed'])
    expect(world.box.calls).toHaveLength(2)
  })

  test('a mutation whose entry is not on disk yet is not sent before it is', async () => {
    const hold = world.holdBarrier()
    const first = world.publish(id)
    await world.until(() => ledger().length === 1)
    const makeRoom = world.fillStorage()
    hold()
    await turns()
    makeRoom()
    await first
    await world.settle()
    const call = world.trail.indexOf('box.send')
    expect(world.trail.slice(0, call).lastIndexOf('durable')).toBe(call - 1)
    expect(world.box.calls).toHaveLength(1)
  })
})
