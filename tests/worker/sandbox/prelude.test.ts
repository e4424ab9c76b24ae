import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { err } from '#engine/model/result.ts'
import { expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest, producer, summarize } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: () => Promise.resolve(err([])) })

const run = async (body: string, host = createFakePhaseHost()) =>
  summarize(await sandbox.runPhase(phaseRequest(producer(body), { host })))

/** The value of an expression inside, and of the same expression in Node. */
const inBoth = async (expression: string) => {
  const expected: unknown = JSON.parse(
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
    JSON.stringify(new Function(`return ${expression}`)()),
  )
  return { inside: await run(`return ${expression}`), expected }
}

test.each([
  "new URL('HTTP://User:Pw@ExAmple.com:80/a/../b c?q=ü#h').href",
  "new URL('../x?y', 'https://example.com/a/b/c').href",
  "(() => { const u = new URL('https://a.b/?x=1'); u.searchParams.append('y', 'a b&c'); u.hash = 'z'; u.port = '8080'; return [u.href, u.search, u.origin] })()",
  "(() => { const u = new URL('https://a.b/?x=1'); const p = u.searchParams; u.search = '?z=2'; return [p.get('z'), p.get('x'), p.size] })()",
  "[URL.canParse('nonsense'), URL.canParse('/x', 'https://a.b'), JSON.stringify({ u: new URL('https://a.b') })]",
  "[...new URLSearchParams('a=1&b=%zz&c=%C3%BC+x&&d')]",
  "new URLSearchParams({ q: \"it's (a) ~test!*\", 'ü': '\\ud800' }).toString()",
  "(() => { const p = new URLSearchParams([['b', '2'], ['a', '1'], ['b', '3']]); p.sort(); p.set('b', 'x'); p.delete('a'); return [p.toString(), p.has('b', 'x'), p.getAll('b')] })()",
  "[...new TextEncoder().encode('aü€😀\\ud800')]",
  'new TextDecoder().decode(new Uint8Array([239, 187, 191, 97, 195, 188, 226, 130, 172, 240, 159, 152, 128, 255, 226, 130, 97, 237, 160, 128]))',
  "new TextEncoder().encodeInto('aü€', new Uint8Array(4))",
  "(() => { try { return new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })()",
  "[btoa('Hello, world'), btoa('a'), btoa('ab'), atob('SGVsbG8='), atob(' S G V sbG8 '), atob('')]",
  "['é€', 'a'].map((t) => { try { return btoa(t) } catch (e) { return e.name } })",
  "['a', '=', '====', 'ab=c', 'YQ=='].map((t) => { try { return atob(t) } catch (e) { return e.name } })",
  "(() => { const o = { d: new Date(5), m: new Map([[1, new Set([2])]]), r: /x/gi, u: undefined, n: [1, , 3] }; o.self = o; const c = structuredClone(o); return [c.self === c, c !== o, c.d.getTime(), [...c.m.get(1)], String(c.r), 'u' in c, 1 in c.n, c.n.length] })()",
  '(() => { const c = structuredClone(new Uint8Array([1, 2, 3]).subarray(1)); return [c.length, c[0], c.constructor.name] })()',
  "(() => { const c = structuredClone(new TypeError('x')); return [c instanceof TypeError, c.message] })()",
  '(() => { try { structuredClone({ f() {} }) } catch (e) { return e.name } })()',
  '(() => { const c = structuredClone(JSON.parse(\'{"__proto__":{"x":1}}\')); return [Object.keys(c), c.x === undefined] })()',
  "[typeof fetch === 'x', typeof Date, Date.name, Date.length, new Date(2024, 1, 29).getDate(), Date.UTC(2020, 1), Date.parse('2020-01-01T00:00:00Z')]",
  '[new Date(0) instanceof Date, new (class extends Date {})(7).getTime(), Date.prototype.constructor === Date]',
])('%s is as in the browser', async (expression) => {
  const { inside, expected } = await inBoth(expression)
  expect(inside).toEqual(expected)
})

test('a random UUID is one of version 4', async () => {
  expect(await run('return crypto.randomUUID()')).toMatch(
    /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  )
})

test('the console and ctx.log write to the run log, each with its level', async () => {
  const host = createFakePhaseHost()
  const body = `
    console.log('a', 1, { b: [null] }, undefined, 5n, Symbol('s'), () => 1)
    console.warn(new TypeError('bad'))
    const loop = {}; loop.loop = loop
    console.debug(loop)
    console.assert(true, 'no'); console.assert(false, 'yes')
    ctx.log.error('from ctx', '\\u0000\\ud800')
  `
  await run(body, host)
  expect(host.logs).toEqual([
    { level: 'info', message: 'a 1 {"b":[null]} undefined 5n Symbol(s) [function]' },
    { level: 'warn', message: 'TypeError: bad' },
    { level: 'debug', message: '[object that cannot be shown]' },
    { level: 'error', message: 'Assertion failed yes' },
    { level: 'error', message: 'from ctx \u0000\ud800' },
  ])
})

test('there is no way to the network, to timers or to the native clock', async () => {
  const names = [
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'setTimeout',
    'setInterval',
    'performance',
    'process',
    'require',
    'importScripts',
    'postMessage',
  ]
  expect(await run(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([])
})

test('time and chance are not available at the top level, where they would be the same in every run', async () => {
  for (const expression of ['Date.now()', 'new Date()', 'Date()', 'Math.random()', 'crypto.randomUUID()']) {
    const outcome = await sandbox.runPhase(phaseRequest(`const x = ${expression}; ${producer('')}`))
    expect(outcome).toMatchObject({
      failure: { type: 'logic', message: expect.stringContaining('top level') as string },
    })
  }
})
