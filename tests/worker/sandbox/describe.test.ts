import { err } from '#engine/model/result.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { expect, test } from 'vitest'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: () => Promise.resolve(err([])) })
const shapeOf = (expression: string) =>
  sandbox.describe({ code: `exports.default = ${expression}`, positionOf: () => ({ line: 1, column: null }) })
const ok = (value: unknown) => ({ ok: true, value })

test('functions are marked, the rest is plain JSON', async () => {
  expect(
    await shapeOf(`{ name: 'n', list: [1, null, 'x', true], none: undefined, producers: { p: { handler() {} } } }`),
  ).toEqual(ok({ name: 'n', list: [1, null, 'x', true], producers: { p: { handler: { $function: true } } } }))
})

test('a script without a workflow has no shape', async () => {
  expect(await shapeOf('undefined')).toEqual(ok(null))
  expect(await shapeOf('null')).toEqual(ok(null))
})

test('what JSON cannot say is named', async () => {
  expect(await shapeOf('[1n, Symbol(), NaN, undefined]')).toEqual(
    ok([
      { $unsupported: 'bigint' },
      { $unsupported: 'symbol' },
      { $unsupported: 'number' },
      { $unsupported: 'undefined' },
    ]),
  )
})

test('an object that contains itself is cut where it repeats', async () => {
  const loop = '(() => { const o = { a: {} }; o.a.o = o; o.twice = [o.a, o.a]; return o })()'
  expect(await shapeOf(loop)).toEqual(
    ok({ a: { o: { $cycle: true } }, twice: [{ o: { $cycle: true } }, { o: { $cycle: true } }] }),
  )
})

test('getters and proxies are asked as the engine would ask them', async () => {
  expect(await shapeOf(`{ get name() { return 'got' } }`)).toEqual(ok({ name: 'got' }))
  expect(await shapeOf(`new Proxy({ a: 1 }, { get: () => 'trapped' })`)).toEqual(ok({ a: 'trapped' }))
})

test('a key __proto__ is a key like any other', async () => {
  const shape = await shapeOf(`JSON.parse('{"__proto__":{"x":1},"constructor":2}')`)
  expect(JSON.stringify(shape)).toBe('{"ok":true,"value":{"__proto__":{"x":1},"constructor":2}}')
  expect(({} as { x?: number }).x).toBeUndefined()
})

/** Which of the two limits is reached first is up to the processor: a quick one burns the fuel in less than the time. */
const TOOK_TOO_LONG = /took too long.*"(cpuMs|fuel)"/

test.each([
  ['a getter that throws', `{ get name() { throw new Error('trap') } }`, /^trap$/],
  ['a proxy that throws', `new Proxy({}, { ownKeys() { throw new Error('trap') } })`, /^trap$/],
  ['a getter that never ends', '{ get name() { for (;;); } }', TOOK_TOO_LONG],
  ['a script that throws', `(() => { throw new TypeError('early') })()`, /^TypeError: early$/],
  ['a script that never ends', '(() => { for (;;); })()', TOOK_TOO_LONG],
])(
  '%s is a failure of logic',
  async (_name, expression, says) => {
    expect(await shapeOf(expression)).toMatchObject({
      ok: false,
      error: { type: 'logic', message: expect.stringMatching(says) as string },
    })
  },
  30_000,
)

test('an object without end is cut at a bound', async () => {
  const endless = `new Proxy({}, { ownKeys: () => ['a', 'b', 'c'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (t, k) => new Proxy(t, {}) && { a: {}, b: [1, 2, 3] } })`
  expect(await shapeOf(endless)).toMatchObject({ ok: true })
  const deep = '(() => { let o = {}; for (let i = 0; i < 1e4; i++) o = { o }; return o })()'
  expect(JSON.stringify(await shapeOf(deep))).toContain('$omitted')
  const wide = 'Array.from({ length: 1e5 }, (_, i) => [i])'
  const shape = await shapeOf(wide)
  expect(shape.ok && Array.isArray(shape.value) && shape.value.length < 1e5).toBe(true)
})

test('defineAgent makes a workflow with one consumer of the topic task', async () => {
  expect(await shapeOf(`defineAgent({ permissions: ['demo'], prepare() {}, next() {} })`)).toEqual(
    ok({
      name: 'Agent',
      permissions: ['demo'],
      topics: { task: {} },
      consumers: {
        task: { subscribe: ['task'], publishes: [], prepare: { $function: true }, next: { $function: true } },
      },
    }),
  )
})
