import { err } from '#engine/model/result.ts'
import type { FollowingPhases, PhaseRequest } from '#engine/ports/sandbox.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import type { FromThread, ToThread } from '#worker/sandbox/thread.ts'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prepareNodeThreads } from '../../support/node-threads.ts'
import { createFakePhaseHost, phaseRequest, summarize, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const threads = await prepareNodeThreads()
afterAll(threads.remove)

let posted: ToThread['type'][]
let said: FromThread['type'][]
let pool: ReturnType<typeof createSandboxPool>
/** What waits in the topic, and the time. */
let events: unknown[]
let now: number
beforeEach(() => {
  posted = []
  said = []
  events = ['b']
  now = 1_000_000
  pool = createSandboxPool({
    wasm,
    compile: () => Promise.resolve(err([])),
    size: 1,
    cap: 2,
    spawn: (listener) => {
      const thread = threads.spawn({
        ...listener,
        message: (message) => {
          if (message.type !== 'ahead' || message.isLast) said.push(message.type)
          listener.message(message)
        },
      })
      return {
        ...thread,
        post: (message) => {
          posted.push(message.type)
          thread.post(message)
        },
      }
    },
  })
})
afterEach(() => pool.close())

/** So many events are shown at once. */
const LIMIT = 2
const LOOK = `const [event] = await ctx.topics.peek('t')`
const RESERVE = `return { reservations: event ? [{ topic: 't', ids: [event] }] : [], data: state }`

interface Parts {
  prepare?: string
  mutate?: string
  next?: string
}
const consumer = ({
  prepare = `${LOOK}; ${RESERVE}`,
  mutate,
  next = 'return { last: prepared.data }',
}: Parts): string =>
  `globalThis.leftBehind = 0; exports.default = { consumers: { c: {
  async prepare(state, ctx) { ${prepare} },
  async mutate(prepared, ctx) { ${mutate ?? 'await ctx.send({ for: prepared.reservations[0].ids[0] })'} },
  async next(prepared) { ${next} },
} } }`

const carrier = (code: string, shared: Partial<PhaseRequest> = {}) => {
  const openHost = () => {
    const host = createFakePhaseHost({
      'topics.peek': () => value(events as string[]),
      look: () => value(7),
      send: () => ({ kind: 'end' }),
    })
    const taken: string[] = []
    host.now = () => now
    host.foresee = (op, _args, beyond = 0) => {
      if (op !== 'topics.peek') return undefined
      const waiting = events.slice(0, LIMIT + beyond)
      return {
        value: JSON.stringify(events.slice(0, LIMIT)),
        taken: () => taken.push(op),
        look: {
          topic: 't',
          limit: LIMIT,
          events: waiting.map((id) => ({ id: String(id), text: JSON.stringify(id) })),
          isAll: waiting.length < LIMIT + beyond,
        },
      }
    }
    return { host, taken }
  }
  const run = async (wanted: Partial<PhaseRequest>) => {
    const { host, taken } = openHost()
    const request = { scriptId: `scr_${code}`, handler: 'c', operations: ['send', 'look', 'topics.peek'] }
    const outcome = await pool.runPhase(
      phaseRequest(code, { ...request, mutations: ['send'], host, ...shared, ...wanted }),
    )
    const logs = host.logs.map(({ message }) => message)
    return { outcome: summarize(outcome), calls: host.calls.map(({ op }) => op), taken, logs, host }
  }
  const thenOf = (state: string): FollowingPhases => ({
    hasMutate: true,
    hasNext: true,
    state: JSON.stringify(state),
    foresee: openHost().host.foresee,
  })
  const prepare = (state: unknown, wanted: Partial<PhaseRequest> = {}) =>
    run({ phase: 'prepare', args: [JSON.stringify(state)], then: thenOf('first'), ...wanted })
  const mutate = (reserved: string, data: unknown) =>
    run({
      phase: 'mutate',
      args: [JSON.stringify({ reservations: [{ topic: 't', ids: [reserved] }], data })],
    })
  const next = (data: unknown = 1, wanted: Partial<PhaseRequest> = {}) =>
    run({
      phase: 'next',
      args: [JSON.stringify({ data }), '{}'],
      then: thenOf('kept'),
      ...wanted,
    })
  /** The pool learns what `prepare` asks for first. */
  const learn = async () => {
    await prepare('first')
    await hasRunAhead()
    posted = []
    said = []
  }
  return { prepare, mutate, next, learn }
}

const phasesPosted = (): number => posted.filter((type) => type === 'phase').length
const hasRunAhead = async (): Promise<void> => {
  while (!said.includes('ahead')) await new Promise((resolve) => setTimeout(resolve, 5))
}
/** Of the one event in the topic. */
const PREPARED = { reservations: [{ topic: 't', ids: ['b'] }], data: { last: 1 } }

/** What was run ahead is good for some milliseconds, and a busy machine may take them away. */
const patient = { retry: 3 }

describe('prepare', patient, () => {
  test('that was run ahead after next is taken when it is asked for, and mutate after it', async () => {
    const { learn, next, prepare, mutate } = carrier(consumer({}))
    await learn()
    expect(await next()).toMatchObject({ outcome: { last: 1 }, calls: [] })
    expect(await prepare({ last: 1 })).toMatchObject({ outcome: PREPARED, calls: [], taken: ['topics.peek'] })
    expect(await mutate('b', { last: 1 })).toMatchObject({ outcome: 'ended', calls: ['send'] })
    expect(phasesPosted()).toBe(1)
    expect(said).toEqual(['done', 'ahead'])
  })

  test('is run ahead with the state that stays when next returns nothing', async () => {
    const { learn, next, prepare } = carrier(consumer({ next: '' }))
    await learn()
    await next()
    expect(await prepare('kept')).toMatchObject({ outcome: { data: 'kept' } })
    expect(phasesPosted()).toBe(1)
  })

  test('notes nothing as seen, asks for nothing and says nothing before it is asked for', async () => {
    const { learn, next, prepare } = carrier(consumer({ prepare: `${LOOK}; console.log('saw ' + event); ${RESERVE}` }))
    await learn()
    const after = await next()
    await hasRunAhead()
    expect(after).toMatchObject({ calls: [], taken: [], logs: [] })
    expect(await prepare({ last: 1 })).toMatchObject({ taken: ['topics.peek'], logs: ['saw b'] })
    expect(after).toMatchObject({ calls: [], taken: [], logs: [] })
  })

  test('is not run ahead while nothing waits for it', async () => {
    const { learn, next, prepare } = carrier(consumer({}))
    await learn()
    events = []
    await next()
    await prepare({ last: 1 })
    expect(phasesPosted()).toBe(2)
  })

  test('is not run ahead where the host cannot tell what it would see', async () => {
    const { learn, next, prepare } = carrier(consumer({}))
    await learn()
    await next(1, { then: { hasMutate: true, hasNext: true, state: 'null' } })
    await prepare({ last: 1 })
    expect(phasesPosted()).toBe(2)
  })

  test('is not run ahead of a next that fails', async () => {
    const { learn, next, prepare } = carrier(consumer({ next: 'throw new Error("no")' }))
    await learn()
    await next()
    await prepare('kept')
    expect(phasesPosted()).toBe(2)
  })

  test.each([
    ['of another state', () => undefined, { args: ['"other"'] }],
    ['of another version of the script', () => undefined, { scriptId: 'scr_other' }],
    ['under other limits', () => undefined, { limits: { cpuMs: 100 } }],
    ['of a session', () => undefined, { values: { session: 1 } }],
    ['after an event has come', () => (events = ['a', 'b']), {}],
    ['after its event has changed', () => (events = ['c']), {}],
  ])('%s is run anew', async (_what, change, wanted) => {
    const { learn, next, prepare } = carrier(consumer({}))
    await learn()
    await next()
    await hasRunAhead()
    change()
    const state = 'args' in wanted ? 'other' : { last: 1 }
    const reserved = events.slice(0, 1)
    expect((await prepare(state, wanted)).outcome).toEqual({
      reservations: [{ topic: 't', ids: reserved }],
      data: state,
    })
    expect(phasesPosted()).toBe(2)
  })

  test.each([
    ['after a while', 100],
    ['after the clock was set back', -100],
  ])('that looked at the time is run anew %s', async (_what, passed) => {
    const { learn, next, prepare } = carrier(consumer({ prepare: `${LOOK}; state = Date.now(); ${RESERVE}` }))
    await learn()
    await next()
    await hasRunAhead()
    now += passed
    expect((await prepare({ last: 1 })).outcome).toMatchObject({ data: now })
    expect(phasesPosted()).toBe(2)
  })

  test('that did not look at the time is as good later', async () => {
    const { learn, next, prepare } = carrier(consumer({}))
    await learn()
    await next()
    await hasRunAhead()
    now += 60_000
    await prepare({ last: 1 })
    expect(phasesPosted()).toBe(1)
  })

  test('of another workflow takes nothing of what was run ahead', async () => {
    const { learn, next, prepare } = carrier(consumer({}))
    await learn()
    await next()
    await prepare({ last: 1 }, { workflowId: 'other' })
    expect(phasesPosted()).toBe(2)
    await prepare({ last: 1 })
    expect(phasesPosted()).toBe(2)
  })

  test('that reads with a tool is run in its turn', async () => {
    const { learn, next, prepare } = carrier(
      consumer({ prepare: `${LOOK}; console.log('once'); state = await ctx.look(); ${RESERVE}` }),
    )
    await learn()
    await next()
    expect(await prepare({ last: 1 })).toMatchObject({ outcome: { data: 7 }, calls: ['look'], logs: ['once'] })
  })

  test('that was guessed wrong is not guessed again at once', async () => {
    const { learn, next, prepare } = carrier(consumer({ prepare: `${LOOK}; state = await ctx.look(); ${RESERVE}` }))
    await learn()
    for (let n = 0; n < 20; n += 1) {
      await next()
      await prepare({ last: 1 })
    }
    // After 1, 2, 4 and 8 others.
    expect(phasesPosted()).toBe(40)
    // Besides those, mutate after each prepare.
    await expect.poll(() => said.filter((type) => type === 'ahead').length).toBe(20 + 5)
  })

  test('that throws while it runs ahead fails with its own words, once it is asked for', async () => {
    const { learn, next, prepare } = carrier(
      consumer({ prepare: `${LOOK}; if (state.last) throw new Error('not today'); ${RESERVE}` }),
    )
    await learn()
    expect(await next()).toMatchObject({ outcome: { last: 1 } })
    expect((await prepare({ last: 1 })).outcome).toContain('not today')
    expect(phasesPosted()).toBe(1)
  })

  test('finds clean memory, and so does mutate after it', async () => {
    const mark = 'globalThis.leftBehind += 1'
    const { learn, next, prepare, mutate } = carrier(
      consumer({
        prepare: `${mark}; ${LOOK}; state = leftBehind; ${RESERVE}`,
        mutate: `${mark}; console.log(leftBehind); await ctx.send()`,
        next: `${mark}; return leftBehind`,
      }),
    )
    await learn()
    expect((await next()).outcome).toBe(1)
    expect((await prepare(1)).outcome).toMatchObject({ data: 1 })
    expect((await mutate('b', 1)).logs).toEqual(['1'])
    expect(phasesPosted()).toBe(1)
  })
})

describe('a script that hangs after next', patient, () => {
  const HANG = '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)'
  const limits = { cpuMs: 200 }

  test('in prepare fails there when it is asked for, and next does not', async () => {
    const { learn, next, prepare } = carrier(consumer({ prepare: `${LOOK}; if (state.last) ${HANG}; ${RESERVE}` }), {
      limits,
    })
    await learn()
    expect((await next()).outcome).toEqual({ last: 1 })
    expect((await prepare({ last: 1 })).outcome).toMatch(/^logic: The script took too long/)
  })

  test('in mutate fails there, and prepare does not', async () => {
    const { learn, next, prepare, mutate } = carrier(consumer({ mutate: `if (prepared.data.last) ${HANG}` }), {
      limits,
    })
    await learn()
    expect((await next()).outcome).toEqual({ last: 1 })
    expect((await prepare({ last: 1 })).outcome).toEqual(PREPARED)
    expect((await mutate('b', { last: 1 })).outcome).toMatch(/^logic: The script took too long/)
  })

  test('hurts nobody, and has failed nowhere, when it is never asked for', async () => {
    const { learn, next, prepare } = carrier(consumer({ prepare: `${LOOK}; if (state.last) ${HANG}; ${RESERVE}` }), {
      limits,
    })
    await learn()
    await next()
    const other = carrier(consumer({}), { workflowId: 'other' })
    expect((await other.prepare('fine')).outcome).toMatchObject({ data: 'fine' })
    expect((await prepare('elsewhere')).outcome).toMatchObject({ data: 'elsewhere' })
    // The thread that hung is ended, and the pool goes on with as many as before.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect((await other.prepare('fine')).outcome).toMatchObject({ data: 'fine' })
    expect(pool.threads).toBeLessThanOrEqual(2)
  })

  test('is over when the sandbox is closed', async () => {
    const { learn, next, prepare } = carrier(consumer({ prepare: `${LOOK}; if (state.last) ${HANG}; ${RESERVE}` }))
    await learn()
    await next()
    const asked = prepare({ last: 1 })
    pool.close()
    expect((await asked).outcome).toMatch(/^internal: The sandbox (was|is) closed/)
  })
})
