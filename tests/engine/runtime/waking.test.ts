import { beforeEach, describe, expect, test, vi } from 'vitest'
import { heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, workflowScript } from '../../support/scripts.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

const seconds = 1000
const hours = 3600 * seconds

/** Looks, tells the box that it did, and asks to be woken later. */
const sleeper = (name: string, ms: number): string => `async prepare(state, ctx) {
  await ctx.box.get('${name}')
  return { reservations: [], data: {}, wakeAt: new Date(ctx.now() + ${String(ms)}).toISOString() }
}`

const looks = (): unknown[] => world.box.calls.map(({ params }) => params)
const wakeAtOf = (name: string): number =>
  Number(world.value(`SELECT wake_at FROM handler_state WHERE handler_name = ?`, name)) - world.clock.now()

const isDirty = (workflowId: string): boolean => world.engine.internals.flags.isDirty(workflowId, 'carry')

test('a look sets the timer anew: one that was set before the computer slept rings late', async () => {
  await world.deploy(workflowScript({ consumers: { digest: { prepare: sleeper('digest', 60 * seconds) } } }))
  await world.settle()
  const wakeAt = vi.spyOn(world.clock, 'wakeAt')
  const planned = world.engine.info().nextWakeAt
  world.engine.look()
  expect(wakeAt.mock.calls.map(([at]) => at)).toEqual([planned])
})

describe('wakeAt', () => {
  test.each([
    ['a time that has passed', -hours, 30 * seconds],
    ['a time too near', 5 * seconds, 30 * seconds],
    ['a time in the window', 90 * seconds, 90 * seconds],
    ['a time too far', 100 * hours, 24 * hours],
  ])('that is %s is kept within half a minute and a day', async (_, asked, kept) => {
    await world.deploy(workflowScript({ consumers: { digest: { prepare: sleeper('digest', asked) } } }))
    await world.settle()
    expect(wakeAtOf('digest')).toBe(kept)
  })

  test('of a consumer with nothing to reserve is when it runs next, and not before', async () => {
    await world.deploy(workflowScript({ consumers: { digest: { prepare: sleeper('digest', 60 * seconds) } } }))
    await world.settle()
    expect(world.engine.info().nextWakeAt).toBe(world.clock.now() + 60 * seconds)
    world.clock.advance(59 * seconds)
    await world.settle()
    expect(looks()).toHaveLength(1)
    world.clock.advance(1 * seconds)
    await world.settle()
    expect(looks()).toHaveLength(2)
    expect(wakeAtOf('digest')).toBe(60 * seconds)
  })

  test('of one consumer comes while another keeps its own', async () => {
    await world.deploy(
      workflowScript({
        consumers: { soon: { prepare: sleeper('soon', 40 * seconds) }, late: { prepare: sleeper('late', 2 * hours) } },
      }),
    )
    await world.settle()
    expect([wakeAtOf('soon'), wakeAtOf('late')]).toEqual([40 * seconds, 2 * hours])
    world.clock.advance(40 * seconds)
    await world.settle()
    expect(looks()).toEqual(['soon', 'late', 'soon'])
    expect([wakeAtOf('soon'), wakeAtOf('late')]).toEqual([40 * seconds, 2 * hours - 40 * seconds])
  })

  test('of several consumers are all served, each at its time', async () => {
    const times = { a: 40, b: 50, c: 60 }
    const consumers = Object.fromEntries(
      Object.entries(times).map(([name, at]) => [name, { prepare: sleeper(name, at * seconds) }]),
    )
    await world.deploy(workflowScript({ consumers }))
    await world.settle()
    world.box.calls.length = 0
    for (let second = 0; second < 120; second += 10) {
      world.clock.advance(10 * seconds)
      await world.settle()
    }
    expect(looks()).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'c'])
  })

  test('is forgotten when prepare does not ask again', async () => {
    const once = `async prepare(state, ctx) {
      const isFirst = (await ctx.box.get('look')) === 'first'
      return { reservations: [], data: {}, ...(isFirst ? { wakeAt: new Date(ctx.now() + 60000).toISOString() } : {}) }
    }`
    world.box.answers.push({ kind: 'ok', value: 'first' })
    await world.deploy(workflowScript({ consumers: { digest: { prepare: once } } }))
    await world.settle()
    world.clock.advance(60 * seconds)
    await world.settle()
    expect(looks()).toHaveLength(2)
    expect(world.value(`SELECT wake_at FROM handler_state`)).toBeNull()
    world.clock.advance(24 * hours)
    await world.settle()
    expect(looks()).toHaveLength(2)
  })

  test('does not keep a new event waiting: the consumer looks at once and says again when to wake', async () => {
    const id = await world.deploy(workflowScript({ consumers: { digest: { prepare: sleeper('digest', 2 * hours) } } }))
    await world.settle()
    world.clock.advance(1 * hours)
    await world.publish(id)
    await world.settle()
    expect(looks()).toHaveLength(2)
    expect(wakeAtOf('digest')).toBe(2 * hours)
  })

  test('survives a restart, and comes at its time', async () => {
    await world.deploy(workflowScript({ consumers: { digest: { prepare: sleeper('digest', 60 * seconds) } } }))
    await world.settle()
    const wakeAt = world.value(`SELECT wake_at FROM handler_state`)
    await world.crash()
    await world.settle()
    expect(world.value(`SELECT wake_at FROM handler_state`)).toBe(wakeAt)
    expect(looks()).toHaveLength(1)
    world.clock.advance(60 * seconds)
    await world.settle()
    expect(looks()).toHaveLength(2)
  })

  test('that passed while no tab was open is served once on the next start', async () => {
    await world.deploy(workflowScript({ consumers: { digest: { prepare: sleeper('digest', 60 * seconds) } } }))
    await world.settle()
    world.engine.stop()
    world.clock.advance(5 * hours)
    await world.crash()
    await world.settle()
    expect(looks()).toHaveLength(2)
    expect(wakeAtOf('digest')).toBe(60 * seconds)
  })

  test('of a consumer that a new version took away while it was preparing wakes nobody', async () => {
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    const id = await world.deploy(
      workflowScript({ consumers: { digest: { prepare: sleeper('digest', 60 * seconds) } } }),
    )
    await world.until(() => looks().length === 1)
    const renamed = workflowScript({ consumers: { summary: { prepare: sleeper('summary', 2 * hours) } } })
    expect(await world.engine.deployWorkflow({ workflowId: id, source: renamed })).toMatchObject({ ok: true })
    held.give()
    await world.settle()
    expect(world.rows(`SELECT handler_name FROM handler_state WHERE wake_at IS NOT NULL`)).toEqual([
      { handler_name: 'summary' },
    ])
  })
})

describe('a consumer is dirty', () => {
  test('from the moment an event is published until it has looked', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    await world.engine.pauseWorkflow(id)
    expect(isDirty(id)).toBe(false)
    await world.publish(id)
    expect(isDirty(id)).toBe(true)
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(isDirty(id)).toBe(false)
  })

  test('no more after a look that reserved nothing, even while events are pending: it does not spin', async () => {
    const id = await world.deploy(workflowScript({ consumers: { carry: { prepare: sleeper('carry', 1 * hours) } } }))
    await world.settle()
    await world.publish(id)
    await world.settle()
    expect(isDirty(id)).toBe(false)
    expect(looks()).toHaveLength(2)
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'pending'`)).toBe(1)
    world.engine.look()
    await world.settle()
    expect(looks()).toHaveLength(2)
  })

  test('again when an event arrives while it is looking', async () => {
    const id = await world.deploy(workflowScript({ consumers: { carry: { prepare: sleeper('carry', 1 * hours) } } }))
    await world.settle()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id, 'm1')
    await world.until(() => looks().length === 2)
    await world.publish(id, 'm2')
    held.give()
    await world.settle()
    expect(looks()).toHaveLength(3)
  })

  test('after a restart when events are pending for it', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    await world.engine.pauseWorkflow(id)
    await world.publish(id)
    await world.crash()
    expect(isDirty(id)).toBe(true)
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.value(`SELECT status FROM events`)).toBe('consumed')
  })

  test('after a restart when it was deployed and never got to look', async () => {
    const deployed = await world.engine.deployWorkflow({
      source: workflowScript({ consumers: { digest: { prepare: sleeper('digest', 60 * seconds) } } }),
      activate: false,
    })
    if (!deployed.ok) throw new Error(deployed.error.message)
    await world.crash()
    await world.engine.resumeWorkflow(deployed.value.workflowId)
    await world.settle()
    expect(looks()).toEqual(['digest'])
    expect(wakeAtOf('digest')).toBe(60 * seconds)
  })

  test('and stays so after it carried something: there may be more where that came from', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    await world.settle()
    await world.engine.pauseWorkflow(id)
    await world.publish(id, 'm1')
    await world.publish(id, 'm2')
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(world.rows(`SELECT prepare_result ->> '$.reservations' AS reserved FROM handler_runs ORDER BY id`)).toEqual([
      { reserved: '[]' },
      { reserved: expect.stringContaining('m1') as unknown },
      { reserved: expect.stringContaining('m2') as unknown },
      { reserved: '[]' },
    ])
  })
})
