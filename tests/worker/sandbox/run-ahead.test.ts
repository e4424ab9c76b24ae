import { err } from '#engine/model/result.ts'
import type { FollowingPhases, HostReply, PhaseRequest } from '#engine/ports/sandbox.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import type { ToThread } from '#worker/sandbox/thread.ts'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prepareNodeThreads } from '../../support/node-threads.ts'
import { createFakePhaseHost, phaseRequest, summarize, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const threads = await prepareNodeThreads()
afterAll(threads.remove)

let posted: ToThread['type'][]
let onPost: (message: ToThread) => unknown
let pool: ReturnType<typeof createSandboxPool>
beforeEach(() => {
  posted = []
  onPost = () => undefined
  pool = createSandboxPool({
    wasm,
    compile: () => Promise.resolve(err([])),
    size: 1,
    cap: 1,
    spawn: (listener) => {
      const thread = threads.spawn(listener)
      return {
        ...thread,
        post: (message) => {
          posted.push(message.type)
          onPost(message)
          thread.post(message)
        },
      }
    },
  })
})
afterEach(() => pool.close())

const consumer = (parts: { prepare?: string; mutate?: string }): string => `exports.default = { consumers: { c: {
  async prepare(state, ctx) { ${parts.prepare ?? "return { reservations: [{ topic: 't', ids: ['a'] }], data: 1 }"} },
  async mutate(prepared, ctx) { ${parts.mutate ?? 'await ctx.send({ data: prepared.data })'} },
} } }`
const RESERVED = '{"reservations":[{"topic":"t","ids":["a"]}],"data":1}'
const FOLLOWING: FollowingPhases = { hasMutate: true, hasNext: true, state: 'null' }
const END: HostReply = { kind: 'end' }

const requestOf = (code: string) => (wanted: Partial<PhaseRequest>) =>
  phaseRequest(code, {
    scriptId: `scr_${code}`,
    handler: 'c',
    operations: ['send', 'look', 'topics.peek'],
    mutations: ['send'],
    ...wanted,
  })
const phases = (code: string) => {
  const request = requestOf(code)
  return {
    prepare: async (wanted: Partial<PhaseRequest> = {}) =>
      summarize(await pool.runPhase(request({ phase: 'prepare', then: FOLLOWING, ...wanted }))),
    mutate: async (host = createFakePhaseHost({ send: () => END }), wanted: Partial<PhaseRequest> = {}) => ({
      outcome: summarize(await pool.runPhase(request({ phase: 'mutate', args: [RESERVED], host, ...wanted }))),
      calls: host.calls,
      logs: host.logs.map(({ message }) => message),
    }),
  }
}
const SENT = { outcome: 'ended', calls: [{ op: 'send', args: '[{"data":1}]' }], logs: [] }

describe('mutate', () => {
  test('that was run ahead is taken when it is asked for, and its thread is not asked again', async () => {
    const { prepare, mutate } = phases(consumer({}))
    await prepare()
    expect(await mutate()).toEqual(SENT)
    expect(posted.filter((type) => type === 'phase')).toHaveLength(1)
  })

  test('asks its host for nothing before it is asked for itself, however long that takes', async () => {
    const host = createFakePhaseHost({ send: () => END })
    const { prepare, mutate } = phases(consumer({}))
    await prepare({ host })
    // Another workflow's phase on the only thread: whatever ran ahead there is over.
    await pool.runPhase(
      phaseRequest('exports.default = { producers: { p: { handler() {} } } }', { workflowId: 'other' }),
    )
    expect(host.calls).toEqual([])
    expect(await mutate(host)).toEqual(SENT)
  })

  test('says in its own log what it said while it ran ahead', async () => {
    const { prepare, mutate } = phases(consumer({ mutate: 'console.log("on my way"); await ctx.send({ data: 1 })' }))
    const host = createFakePhaseHost()
    await prepare({ host })
    expect(host.logs).toEqual([])
    expect((await mutate()).logs).toEqual(['on my way'])
  })

  test('that was run ahead of other input than it is asked with is run again', async () => {
    const { prepare, mutate } = phases(consumer({}))
    await prepare()
    const other = RESERVED.replace('"data":1', '"data":2')
    expect((await mutate(undefined, { args: [other] })).calls).toEqual([{ op: 'send', args: '[{"data":2}]' }])
    expect(posted.filter((type) => type === 'phase')).toHaveLength(2)
  })

  test('is not run ahead of a prepare that reserved nothing', async () => {
    const { prepare, mutate } = phases(consumer({ prepare: 'return { reservations: [], data: 1 }' }))
    await prepare()
    await mutate()
    expect(posted.filter((type) => type === 'phase')).toHaveLength(2)
  })

  test('that wants something else of its host than a mutation is run in its turn', async () => {
    const { prepare, mutate } = phases(consumer({ mutate: 'await ctx.send({ data: await ctx.look() })' }))
    await prepare()
    const host = createFakePhaseHost({ look: () => value(7), send: () => END })
    expect(await mutate(host)).toMatchObject({
      outcome: 'ended',
      calls: [
        { op: 'look', args: '[]' },
        { op: 'send', args: '[{"data":7}]' },
      ],
    })
  })

  test('that asks for something huge is run in its turn: nothing huge is kept for somebody who may never ask', async () => {
    const { prepare, mutate } = phases(consumer({ mutate: 'await ctx.send("x".repeat(2 ** 20 + 1))' }))
    await prepare()
    expect(await mutate()).toMatchObject({ outcome: 'ended', calls: [{ op: 'send' }] })
    expect(posted.filter((type) => type === 'phase')).toHaveLength(2)
  })

  test('that was guessed wrong is left alone for a while', async () => {
    const { prepare, mutate } = phases(consumer({ mutate: 'await ctx.send({ data: await ctx.look() })' }))
    const host = createFakePhaseHost({ look: () => value(7), send: () => END })
    const following: (boolean | undefined)[] = []
    onPost = (message) =>
      message.type === 'phase' && message.job.then && following.push(message.job.then.goesOnWithMutate)
    for (let n = 0; n < 4; n += 1) {
      await prepare()
      await mutate(host)
    }
    // Guessed, left alone once, guessed again, and now left alone twice.
    expect(following).toEqual([true, false, true, false])
  })

  test('that starts two mutations at once is seen to start two', async () => {
    const { prepare, mutate } = phases(consumer({ mutate: 'await Promise.all([ctx.send(1), ctx.send(2)])' }))
    await prepare()
    const host = createFakePhaseHost({ send: () => END })
    expect((await mutate(host)).calls).toHaveLength(2)
  })

  test('that throws before its mutation fails with its own words', async () => {
    const { prepare, mutate } = phases(consumer({ mutate: 'throw new Error("not today")' }))
    await prepare()
    expect(await mutate()).toMatchObject({ outcome: expect.stringContaining('not today') as string, calls: [] })
  })

  test('that hangs while it runs ahead fails when it is asked for, and prepare does not', async () => {
    const hang = '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)'
    const { prepare, mutate } = phases(consumer({ mutate: hang }))
    const limits = { cpuMs: 200 }
    expect(await prepare({ limits })).toMatchObject({ data: 1 })
    expect((await mutate(undefined, { limits })).outcome).toMatch(/^logic: The script took too long/)
  })

  test('ends with its mutation also when it was not run ahead: its thread is told nothing more', async () => {
    const { mutate } = phases(consumer({}))
    expect(await mutate()).toEqual(SENT)
    expect(posted).toEqual(['boot', 'phase'])
  })
})

describe('what prepare asked for first the last time', () => {
  const PEEKS = consumer({
    prepare: `const events = await ctx.topics.peek('t'); return { reservations: [], data: events }`,
  })
  const hostWith = (events: string) => {
    const taken: string[] = []
    const host = createFakePhaseHost({ 'topics.peek': () => value(['asked']) })
    host.foresee = (op, args) => ({
      value: events,
      taken: () => taken.push(`${op} ${args}`),
      look: { topic: 't', limit: 1, events: [], isAll: true },
    })
    return { host, taken }
  }

  test('is answered along with the phase the next time, and noted as asked', async () => {
    const { prepare } = phases(PEEKS)
    const first = hostWith('["foreseen"]')
    expect(await prepare({ host: first.host })).toMatchObject({ data: ['asked'] })
    expect(first.taken).toEqual([])
    const second = hostWith('["foreseen"]')
    expect(await prepare({ host: second.host })).toMatchObject({ data: ['foreseen'] })
    expect(second.taken).toEqual(['topics.peek ["t"]'])
    expect(second.host.calls).toEqual([])
  })

  test('is not noted when the script does not ask for it this time', async () => {
    const { prepare } = phases(
      consumer({ prepare: `if (state === 1) return { reservations: [], data: 0 }; await ctx.topics.peek('t')` }),
    )
    await prepare({ host: hostWith('[]').host })
    const second = hostWith('[]')
    expect(await prepare({ host: second.host, args: ['1'] })).toMatchObject({ data: 0 })
    expect(second.taken).toEqual([])
  })

  test('is asked for in the ordinary way where the host cannot foresee it', async () => {
    const { prepare } = phases(PEEKS)
    for (let n = 0; n < 2; n += 1) {
      const host = createFakePhaseHost({ 'topics.peek': () => value([n]) })
      expect(await prepare({ host })).toMatchObject({ data: [n] })
    }
  })
})
