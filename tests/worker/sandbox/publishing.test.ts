import { failure } from '#engine/model/errors.ts'
import { err } from '#engine/model/result.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import type { FromThread } from '#worker/sandbox/thread.ts'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { prepareNodeThreads } from '../../support/node-threads.ts'
import { createFakePhaseHost, phaseRequest, producer, refuse, summarize, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const threads = await prepareNodeThreads()
afterAll(threads.remove)

let heard: FromThread['type'][]
let pool: ReturnType<typeof createSandboxPool>
beforeEach(() => {
  heard = []
  pool = createSandboxPool({
    wasm,
    compile: () => Promise.resolve(err([])),
    size: 1,
    cap: 1,
    spawn: (listener) =>
      threads.spawn({
        ...listener,
        message: (message) => {
          heard.push(message.type)
          listener.message(message)
        },
      }),
  })
})
afterEach(() => pool.close())

const publish = async (
  body: string,
  { host = createFakePhaseHost(), most = 10_000, topics = ['t'] }: Partial<Parameters<typeof options>[0]> = {},
) => {
  heard = []
  const request = phaseRequest(producer(body), options({ host, most, topics }))
  const outcome = summarize(await pool.runPhase(request))
  const told = host.calls.map(({ op, args }) => [op, /"messageId":"(\w+)"/.exec(args)?.[1]])
  return { outcome, told, turns: heard.filter((type) => type === 'turn').length }
}
const options = ({
  host,
  most,
  topics,
}: {
  host: ReturnType<typeof createFakePhaseHost>
  most: number
  topics: string[]
}) => ({ host, operations: ['topics.publish', 'look'], publishing: { most, topics } })

const ids = (count: number) => Array.from({ length: count }, (_, n) => ['topics.publish', `e${n}`])

test('a script that publishes waits for nobody, and its host hears of every event, in order', async () => {
  const { outcome, told, turns } = await publish(`
    for (let n = 0; n < 100; n += 1) await ctx.topics.publish('t', { messageId: 'e' + n, payload: { n } })
    return 'done'`)
  expect(outcome).toBe('done')
  expect(told).toEqual(ids(100))
  expect(turns).toBe(0)
})

test('the host hears of events before it is asked for anything that comes after them', async () => {
  const host = createFakePhaseHost({ look: () => value(host.calls.length) })
  const { outcome, told, turns } = await publish(
    `await ctx.topics.publish('t', { messageId: 'e0' })
     await ctx.topics.publish('t', { messageId: 'e1' })
     const seen = await ctx.look()
     await ctx.topics.publish('t', { messageId: 'e2' })
     return seen`,
    { host },
  )
  expect(outcome).toBe(3)
  expect(told.map(([op, id]) => id ?? op)).toEqual(['e0', 'e1', 'look', 'e2'])
  expect(turns).toBe(1)
})

test('an event that is not in order is refused by the host, where the script can catch it', async () => {
  const host = createFakePhaseHost({
    'topics.publish': ([topic]) =>
      topic === 't' ? { kind: 'value', value: undefined } : refuse(failure('logic', 'no such topic')),
  })
  const { outcome, told } = await publish(
    `await ctx.topics.publish('t', { messageId: 'e0' })
     try { await ctx.topics.publish('other', { messageId: 'e1' }) } catch (error) { return error.message }`,
    { host },
  )
  expect(outcome).toBe('no such topic')
  expect(told).toEqual(ids(2))
})

test('one event too many is left to the host to refuse', async () => {
  const host = createFakePhaseHost({
    'topics.publish': () =>
      host.calls.length > 3 ? refuse(failure('logic', 'too many')) : { kind: 'value', value: undefined },
  })
  const body = `for (let n = 0; n < 5; n += 1) await ctx.topics.publish('t', { messageId: 'e' + n })`
  const { outcome, told, turns } = await publish(body, { host, most: 3 })
  expect(outcome).toBe('logic: too many')
  expect(told).toEqual(ids(4))
  expect(turns).toBe(1)
})

test('a host that refuses what seemed to be in order fails the phase: nothing is published that it did not agree to', async () => {
  const host = createFakePhaseHost({ 'topics.publish': () => refuse(failure('logic', 'not that one')) })
  const { outcome } = await publish(`await ctx.topics.publish('t', { messageId: 'e0' }); return 1`, { host })
  expect(outcome).toBe('logic: not that one')
})

test('large events go to the host while the script still publishes, not all at the end', async () => {
  const body = `for (let n = 0; n < 40; n += 1) await ctx.topics.publish('t', { messageId: 'e' + n, payload: 'x'.repeat(50000) })`
  const { told } = await publish(body)
  expect(told).toEqual(ids(40))
  expect(heard.filter((type) => type === 'noted').length).toBeGreaterThan(4)
})

test('events that are published side by side with a question keep their order', async () => {
  const host = createFakePhaseHost({ look: () => value(7) })
  const { outcome, told } = await publish(
    `const [, seen] = await Promise.all([ctx.topics.publish('t', { messageId: 'e0' }), ctx.look(), ctx.topics.publish('t', { messageId: 'e1' })])
     await ctx.topics.publish('t', { messageId: 'e2' })
     return seen`,
    { host },
  )
  expect(outcome).toBe(7)
  expect(told.filter(([op]) => op === 'topics.publish')).toEqual(ids(3))
})
