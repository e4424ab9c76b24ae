import type { Json } from '#engine/model/json.ts'
import type { PhaseRequest } from '#engine/ports/sandbox.ts'

/** What must come of it: a value, the end by a mutation, or a failure of a class that says certain words. */
export type Expected =
  | { kind: 'returned'; value: Json | undefined }
  | { kind: 'ended' }
  | { kind: 'failed'; type: 'logic' | 'network' | 'internal'; says: RegExp }

export interface HostileScript extends Partial<Pick<PhaseRequest, 'phase' | 'handler' | 'args' | 'limits'>> {
  name: string
  code: string
  expected: Expected
  /** What the host must have been asked, by operation; not looked at when left out. */
  calls?: readonly string[]
  /** Native code that never asks whether it may go on: only another thread can end it. */
  isUninterruptible?: boolean
}

const returns = (value?: Json): Expected => ({ kind: 'returned', value })
const fails = (says: RegExp, type: 'logic' | 'network' | 'internal' = 'logic'): Expected => ({
  kind: 'failed',
  type,
  says,
})
const ends: Expected = { kind: 'ended' }

const cpu = fails(/took too long.*"cpuMs"/)
const wall = fails(/took too long.*"wallMs"/)
const memory = fails(/more than .* of memory.*"memoryBytes"/)
const stack = fails(/too deeply.*"stackBytes"/)
const tooBig = fails(/more than 8 MiB in or out.*"valueBytes"/)
const deadlock = fails(/waits for something that can never happen/)
const cpuOrMemory = fails(/"cpuMs"|"memoryBytes"/)

const BRIEF = { cpuMs: 150 }

type Extra = Omit<HostileScript, 'name' | 'code' | 'expected'>

/** The body of the producer `p`. */
const body = (name: string, text: string, expected: Expected, extra: Extra = {}): HostileScript => ({
  name,
  code: `exports.default = { producers: { p: { async handler(state, ctx) {\n${text}\n} } } }`,
  expected,
  ...extra,
})
/** The whole script. */
const script = (name: string, code: string, expected: Expected, extra: Extra = {}): HostileScript => ({
  name,
  code,
  expected,
  ...extra,
})
const PLAIN = 'exports.default = { producers: { p: { handler: () => "ran" } } }'

const endlessLoops = [
  body('a plain endless loop', 'for (;;);', cpu, { limits: BRIEF }),
  body('an endless loop that catches everything', 'for (;;) { try { for (;;); } catch {} }', cpu, { limits: BRIEF }),
  body('an endless loop in finally', 'try { throw 1 } finally { for (;;); }', cpu, { limits: BRIEF }),
  script('an endless loop at the top level', `for (;;); ${PLAIN}`, cpu, { limits: BRIEF }),
  script('endless microtasks at the top level', `(async () => { for (;;) await null })(); ${PLAIN}`, cpu, {
    limits: BRIEF,
  }),
  body('endless microtasks', 'for (;;) await null', cpu, { limits: BRIEF }),
  body('endless promise chain', 'const next = () => Promise.resolve().then(next); await next()', cpuOrMemory, {
    limits: BRIEF,
  }),
  body(
    'promise fan-out',
    'const fan = () => { Promise.resolve().then(fan); Promise.resolve().then(fan) }; fan(); await new Promise(() => {})',
    cpuOrMemory,
    { limits: BRIEF },
  ),
  body('an endless generator', 'for (const x of (function* () { for (;;) yield 1 })());', cpu, { limits: BRIEF }),
  body('an endless async generator', 'for await (const x of (async function* () { for (;;) yield 1 })());', cpu, {
    limits: BRIEF,
  }),
  body('an endless loop in a comparator', '[3, 2, 1].sort(() => { for (;;); })', cpu, { limits: BRIEF }),
  body('an endless loop in a thenable', 'return { then() { for (;;); } }', cpu, { limits: BRIEF }),
  body('an endless loop in a getter of the result', 'return { get x() { for (;;); } }', cpu, { limits: BRIEF }),
  body('an endless loop in toJSON', 'return { toJSON() { for (;;); } }', cpu, { limits: BRIEF }),
  body('an endless loop in a proxy trap', 'return new Proxy({}, { ownKeys() { for (;;); } })', cpu, { limits: BRIEF }),
  body('an endless loop in the message of an error', 'throw { get message() { for (;;); } }', cpu, { limits: BRIEF }),
  body('an endless loop in eval', "eval('for (;;);')", cpu, { limits: BRIEF }),
  body('an endless loop in a made function', "new Function('for (;;);')()", cpu, { limits: BRIEF }),
  body('endless host calls', 'for (;;) await ctx.echo(1)', fails(/took too long/), {
    limits: { wallMs: 300, cpuMs: 300 },
  }),
  body(
    'an interruption that is caught by way of a promise',
    'const loop = async () => { for (;;); }\ntry { await loop() } catch {}\nawait ctx.echo("escaped"); return "escaped"',
    cpu,
    { limits: BRIEF, calls: [] },
  ),
  body(
    'an interruption with work in finally',
    'const loop = async () => { try { for (;;); } finally { ctx.send("escaped") } }\nawait loop().catch(() => ctx.send("again"))',
    cpu,
    { limits: BRIEF, calls: [] },
  ),
  body('too much fuel', 'for (;;);', fails(/took too long.*"fuel"/), { limits: { fuel: 20 } }),
]

const waits = [
  body('a promise that never settles', 'await new Promise(() => {})', deadlock),
  body('a thenable that never calls back', 'await { then() {} }', deadlock),
  body('a race of nobody', 'await Promise.race([])', deadlock),
  body('a reply and then nothing', 'await Promise.all([ctx.echo(1), new Promise(() => {})])', deadlock, {
    calls: ['echo'],
  }),
  body('a host call that never returns', 'await ctx.never()', wall, { limits: { wallMs: 100 } }),
  body(
    'a host call that never returns, in a race',
    'return Promise.race([ctx.never(), ctx.echo("first")])',
    returns(['first']),
  ),
]

const deep = (open: string, middle: string, close: string, times = 100_000) =>
  open.repeat(times) + middle + close.repeat(times)

const recursion = [
  body('plain recursion', 'const f = () => f() + 1; f()', stack),
  body('recursion in a getter', 'const o = { get x() { return this.x } }; o.x', stack),
  body('recursion in toString', 'const o = { toString() { return `${o}` } }; `${o}`', stack),
  body('recursion in valueOf', 'const o = { valueOf() { return +o } }; +o', stack),
  body('recursion in a proxy', 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x', stack),
  body('recursion through apply', 'function f() { return f.apply(this, arguments) } f()', stack),
  body('recursion in toJSON', 'const o = { toJSON() { return { o } } }; return o', fails(/"stackBytes"|circular/i)),
  body(
    'recursion in instanceof',
    'class C { static [Symbol.hasInstance](x) { return x instanceof C } }\n1 instanceof C',
    stack,
  ),
  body('async recursion', 'const f = async () => { await f() }; await f()', stack),
  body('async recursion after an await', 'const f = async () => { await null; await f() }; await f()', cpuOrMemory, {
    limits: { cpuMs: 300 },
  }),
  body(
    'recursion that is caught',
    'const f = () => f() + 1; try { f() } catch { return "went on" }',
    returns('went on'),
  ),
  body('a chain of proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x', stack),
  script('100,000 nested brackets in the source', `const x = ${deep('[', '', ']')}; ${PLAIN}`, stack),
  script('100,000 nested parentheses in the source', `const x = ${deep('(', '1', ')')}; ${PLAIN}`, stack),
  script(
    '100,000 nested functions in the source',
    `const x = ${deep('(()=>', '1', ')')}; ${PLAIN}`,
    fails(/"stackBytes"|SyntaxError/),
  ),
  script('100,000 nested blocks in the source', `${deep('{', '', '}')}; ${PLAIN}`, stack),
  script('100,000 unary operators in the source', `const x = ${'!'.repeat(100_000)}1; ${PLAIN}`, stack),
  body('100,000 nested brackets in eval', "eval('['.repeat(1e5) + ']'.repeat(1e5))", stack),
  body('100,000 nested brackets in JSON', "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", stack),
  body('100,000 nested brackets in a reply', 'await ctx.deep()', stack),
  body('100,000 nested brackets in an argument', 'return 1', stack, { args: [deep('[', '', ']')] }),
  body('100,000 nested arrays in the result', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', stack),
  body(
    '100,000 nested arrays in a call',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; await ctx.echo(a)',
    stack,
  ),
  body('100,000 nested arrays made flat', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)', stack),
  body('100,000 nested arrays cloned', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)', stack),
  body(
    '100,000 nested groups in a regex',
    "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))",
    fails(/"stackBytes"|SyntaxError/),
  ),
]

const memoryBombs = [
  body('an array that grows', 'const a = []; for (;;) a.push({ a })', memory),
  body(
    'strings that double',
    "const a = []; for (let s = 'x'.repeat(1e5); ; ) a.push((s += 'y'), s.split(''))",
    memory,
  ),
  body('one string too long', "let s = 'x'; for (;;) s += s", fails(/too long|"memoryBytes"/)),
  body('a repeated string', "'x'.repeat(2 ** 30)", fails(/too long|invalid|repeat|"memoryBytes"/i)),
  body('typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', memory),
  body('one huge buffer', 'new ArrayBuffer(1e9)', fails(/"memoryBytes"|RangeError/)),
  body('one huge shared buffer', 'new SharedArrayBuffer(1e9)', fails(/"memoryBytes"|RangeError|InternalError/)),
  body('a huge filled array', 'new Array(1e8).fill(0)', fails(/"memoryBytes"|"cpuMs"/)),
  body('a map that grows', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])', memory),
  body(
    'closures that grow',
    'let f = () => 1; for (;;) { const g = f, pad = new Array(100).fill(0); f = () => [g, pad] }',
    memory,
  ),
  body(
    'a replacement that expands',
    "'x'.repeat(1e6).replace(/x/g, 'y'.repeat(1e3))",
    fails(/too long|"memoryBytes"|"cpuMs"/),
  ),
  body('promises that grow', 'const a = []; for (;;) a.push(new Promise(() => {}))', memory),
  body(
    'out of memory, caught again and again',
    'for (;;) { try { const a = []; for (;;) a.push([1]) } catch {} }',
    cpuOrMemory,
    {
      limits: { cpuMs: 1_000 },
    },
  ),
  body(
    'out of memory, caught once',
    'try { const a = []; for (;;) a.push([1]) } catch { return "went on" }',
    returns('went on'),
  ),
  script('a memory bomb at the top level', `const a = []; for (;;) a.push([1]); ${PLAIN}`, memory),
  body(
    'more than a workflow allows itself',
    'const a = []; for (let i = 0; i < 1e6; i++) a.push([i])',
    fails(/4 MiB of memory.*at most 64 MiB/),
    {
      limits: { memoryBytes: 4 * 1024 * 1024 },
    },
  ),
]

const endless = { limits: BRIEF, isUninterruptible: true }
const nativeLoops = [
  body('indexOf over 2⁵³ elements', '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)', cpu, endless),
  body('lastIndexOf over 2⁵³ elements', '[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)', cpu, endless),
  body('includes over 2⁵³ elements', '[].includes.call({ length: 2 ** 53 - 1 }, 1)', cpu, endless),
  body('reverse of 2⁵³ elements', '[].reverse.call({ length: 2 ** 53 - 1 })', cpu, endless),
  body(
    'concat of 2⁵³ elements',
    '[].concat.call([], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })',
    cpu,
    endless,
  ),
  body('the text of an array of 10⁹ holes', "new Array(1e9) + ''", fails(/"cpuMs"|"memoryBytes"|too long/), endless),
  body('a native loop after a reply', 'await ctx.echo(1); [].indexOf.call({ length: 2 ** 53 - 1 }, 1)', cpu, endless),
  script('a native loop at the top level', `[].includes.call({ length: 2 ** 53 - 1 }, 1); ${PLAIN}`, cpu, endless),
]

const slowNumbersAndRegexes = [
  body('a regex with nested repetition', "/(a+)+$/.test('a'.repeat(50) + 'b')", cpu, { limits: BRIEF }),
  body('a regex with ambiguous alternatives', "/^(a|aa)+$/.test('a'.repeat(100) + 'b')", cpu, { limits: BRIEF }),
  body('a regex with back references', "/^(a*)*\\1$/.test('a'.repeat(60) + 'b')", cpu, { limits: BRIEF }),
  body('a regex with look-ahead', "/^(?:(?=a*)a*)*b$/.test('a'.repeat(60))", fails(/"cpuMs"/), { limits: BRIEF }),
  body('a regex in replaceAll', "('a'.repeat(50) + 'b').replaceAll(/(a+)+$/g, 'x')", cpu, { limits: BRIEF }),
  body('a BigInt power', '2n ** (2n ** 40n)', fails(/BigInt/)),
  body('a BigInt shift', '1n << (2n ** 62n)', fails(/BigInt|"memoryBytes"/)),
  body('a BigInt squared for ever', 'for (let b = 3n; ; ) b *= b', fails(/BigInt|"cpuMs"|"memoryBytes"/)),
]

const TWENTY_MB = "'x'.repeat(20e6)"
/** A value can be more than memory holds twice, before it is measured. */
const tooBigForMemory = fails(/"valueBytes"|"memoryBytes"/)

const results = [
  body('a cyclic result', 'const a = {}; a.a = a; return a', fails(/circular/i)),
  body('a BigInt in the result', 'return { a: 1n }', fails(/bigint/i)),
  body('a function as the result', 'return () => 1', fails(/returned a function/)),
  body('a symbol as the result', 'return Symbol()', fails(/returned a symbol/)),
  body(
    'a proxy as the result',
    "return new Proxy({ a: 1 }, { get: (t, k) => k === 'a' ? 2 : t[k] })",
    returns({ a: 2 }),
  ),
  body(
    'a revoked proxy as the result',
    'const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy',
    fails(/revoked/),
  ),
  body('a throwing getter in the result', 'return { get a() { throw new Error("trap") } }', fails(/^trap/)),
  body('a throwing toJSON', 'return { toJSON() { throw new Error("trap") } }', fails(/^trap/)),
  body('a toJSON that says nothing', 'return { toJSON() {} }', returns()),
  body('a toJSON that counts', 'let n = 0; const o = { toJSON: () => ++n }; return [o, o]', returns([1, 2])),
  body('numbers that JSON does not know', 'return [NaN, Infinity, -0, undefined]', returns([null, null, 0, null])),
  body('text with zeros and lone surrogates', 'return "a\\u0000b\\ud800"', returns('a\u0000b\ud800')),
  body('a result of 9 MB', "return 'x'.repeat(9e6)", tooBig),
  body('a result of 20 MB', "return 'x'.repeat(20e6)", tooBigForMemory),
  body('a result of 12 MB in 4 million characters', "return '€'.repeat(4e6)", tooBigForMemory),
  body('an argument of 9 MB', "await ctx.echo('x'.repeat(9e6))", tooBig, { calls: [] }),
  body('an argument of 9 MB that is caught', "try { await ctx.echo('x'.repeat(9e6)) } catch {} return 1", tooBig, {
    calls: [],
  }),
  body('an argument of 20 MB', "await ctx.echo('x'.repeat(20e6))", tooBigForMemory, { calls: [] }),
  body('a reply of 20 MB', 'return (await ctx.big()).length', tooBig),
  body('a result of many holes', 'return new Array(1e7)', fails(/"valueBytes"|"memoryBytes"/)),
  body('a state of more than 1 MiB', "return 'x'.repeat(1.2e6)", fails(/state of more than 1 MiB.*"stateBytes"/)),
  body('a state of more than the workflow allows', "return 'x'.repeat(200)", fails(/100 bytes.*"stateBytes"/), {
    limits: { stateBytes: 100 },
  }),
  body('a key __proto__ in the result', 'return JSON.parse(\'{"__proto__":{"a":1},"b":2}\').b', returns(2)),
  body(
    'a key __proto__ in a reply',
    'const r = await ctx.proto(); return [Object.keys(r), r.polluted === undefined, ({}).polluted === undefined]',
    returns([['__proto__'], true, true]),
  ),
  body(
    'a key __proto__ in an argument',
    'return [Object.keys(state), state.polluted === undefined, ({}).polluted === undefined]',
    returns([['__proto__'], true, true]),
    {
      args: ['{"__proto__":{"polluted":true}}'],
    },
  ),
  body('a thenable as the result', 'return { then: (resolve) => resolve("resolved") }', returns('resolved')),
  body('a thenable that resolves twice', 'return { then(resolve) { resolve(1); resolve(2); throw 3 } }', returns(1)),
  body('a thenable that makes thenables', 'const t = { then: (resolve) => resolve(t) }; return t', cpuOrMemory, {
    limits: BRIEF,
  }),
]

const LONG = 2_000

const errors = [
  body('throwing null', 'throw null', fails(/^The script threw null\.$/)),
  body('throwing undefined', 'throw undefined', fails(/^The script threw undefined\.$/)),
  body('throwing a symbol', 'throw Symbol("s")', fails(/^The script threw Symbol\(s\)\.$/)),
  body('throwing a BigInt', 'throw 7n', fails(/^The script threw 7\.$/)),
  body('throwing text', 'throw "plain"', fails(/^plain$/)),
  body('throwing a function', 'throw function named() {}', fails(/named|without a message/)),
  body(
    'throwing a hostile proxy',
    'throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })',
    fails(/cannot be read/),
  ),
  body(
    'throwing a revoked proxy',
    'const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy',
    fails(/cannot be read/),
  ),
  body(
    'throwing what throws when read',
    'throw { get message() { throw new Error("again") } }',
    fails(/cannot be read/),
  ),
  body(
    'an error whose parts are no text',
    'throw Object.assign(new Error("x"), { message: {}, name: 5, stack: [] })',
    fails(/without a message/),
  ),
  body('an error of 20 MB', `throw new Error(${TWENTY_MB})`, fails(new RegExp(`^x{${LONG - 10},${LONG}}…?$`))),
  body(
    'an error that claims a class',
    'throw Object.assign(new Error("mine"), { type: "network", host: 1, retryAfterMs: 5 })',
    fails(/^mine$/),
  ),
  body('an error of the host, not caught', 'await ctx.fail()', fails(/^no route$/, 'network')),
  body(
    'an error of the host, caught and thrown again',
    'try { await ctx.fail() } catch (e) { throw e }',
    fails(/^no route$/, 'network'),
  ),
  body(
    'an error of the host with changed words',
    'try { await ctx.fail() } catch (e) { e.message = "x"; e.type = "auth"; throw e }',
    fails(/^no route$/, 'network'),
  ),
  body(
    'an error of the host as a cause',
    'try { await ctx.fail() } catch (e) { throw new Error("wrapped", { cause: e }) }',
    fails(/^wrapped$/),
  ),
  body(
    'an heir of an error of the host',
    'try { await ctx.fail() } catch (e) { throw Object.create(e) }',
    fails(/no route/),
  ),
  body(
    'an error of the host behind a proxy',
    'try { await ctx.fail() } catch (e) { throw new Proxy(e, {}) }',
    fails(/no route/),
  ),
  body(
    'an error of the host among others',
    'await Promise.all([ctx.echo(1), ctx.fail(), ctx.never()])',
    fails(/^no route$/, 'network'),
  ),
  body(
    'an error of the host, not waited for',
    'ctx.fail().catch(() => {}); await ctx.echo(1); await ctx.echo(2); return "fine"',
    returns('fine'),
  ),
  body(
    'forging a class through WeakMap',
    'try { await ctx.fail() } catch {}\nWeakMap.prototype.get = () => 1; WeakMap.prototype.has = () => true; throw new Error("mine")',
    fails(/^mine$/),
  ),
  body(
    'an error that forges its line',
    'const e = new Error("x"); e.stack = "at workflow.ts:999999999999999999999:1"; throw e',
    fails(/^x$/),
  ),
  script('an error at the top level', `throw new Error("early"); ${PLAIN}`, fails(/^early$/)),
  script('throwing null at the top level', `throw null; ${PLAIN}`, fails(/^The script threw null\.$/)),
  script('a syntax error', 'const = 1', fails(/SyntaxError/)),
  script('a script that closes the function it is in', `}); for (;;); (function () {`, fails(/./), { limits: BRIEF }),
  body('a host that throws', 'await ctx.bug()', fails(/bug: out of order/, 'internal')),
]

const echoes = 'return (await ctx.echo({ a: [1, "x"] }))[0].a'

const overrides = [
  body('JSON overridden', `JSON.parse = JSON.stringify = () => { throw 1 }; ${echoes}`, returns([1, 'x'])),
  body('JSON removed', `globalThis.JSON = undefined; ${echoes}`, returns([1, 'x'])),
  body('Promise.prototype.then overridden', `Promise.prototype.then = () => { throw 1 }; ${echoes}`, returns([1, 'x'])),
  body('Promise removed', `globalThis.Promise = null; ${echoes}`, returns([1, 'x'])),
  body(
    'Promise.prototype.constructor trapped',
    `Object.defineProperty(Promise.prototype, 'constructor', { get() { throw new Error('trap') } }); ${echoes}`,
    fails(/trap/),
  ),
  body(
    'Reflect and Object emptied',
    `const { ownKeys } = Reflect; for (const o of [Reflect, Object]) for (const k of ownKeys(o)) { try { delete o[k] } catch {} } ${echoes}`,
    returns([1, 'x']),
  ),
  body(
    'Function.prototype emptied',
    `delete Function.prototype.call; delete Function.prototype.apply; ${echoes}`,
    returns([1, 'x']),
  ),
  body('iteration broken', `Array.prototype[Symbol.iterator] = () => { throw 1 }; ${echoes}`, returns([1, 'x'])),
  body('toJSON for all arrays', `Array.prototype.toJSON = () => 'gone'; ${echoes}`, fails(/not a JSON array/), {
    calls: [],
  }),
  body('toJSON for all objects', 'Object.prototype.toJSON = () => 1; return { a: 2 }', returns(1)),
  body(
    'setters on Array.prototype',
    `Object.defineProperty(Array.prototype, 0, { set() { throw 1 }, configurable: true }); ${echoes}`,
    fails(/./),
  ),
  body(
    'then for all objects',
    'Object.prototype.then = function (r) { delete Object.prototype.then; r("taken") }; return {}',
    returns('taken'),
  ),
  body('Error replaced', `globalThis.Error = globalThis.TypeError = null; ${echoes}`, returns([1, 'x'])),
  body(
    'String.prototype emptied',
    `for (const k of Reflect.ownKeys(String.prototype)) delete String.prototype[k]; throw new Error('short')`,
    fails(/^short$/),
  ),
  body(
    'every global removed',
    `const e = ctx.echo; for (const k of Reflect.ownKeys(globalThis)) { try { delete globalThis[k] } catch {} } return (await e(5))[0]`,
    returns(5),
  ),
  body(
    'every prototype frozen',
    `for (const k of Reflect.ownKeys(globalThis)) { const p = globalThis[k]?.prototype; if (p) Object.freeze(p) } ${echoes}`,
    returns([1, 'x']),
  ),
  body(
    'prepareStackTrace set',
    'Error.prepareStackTrace = () => { throw 1 }; Error.stackTraceLimit = 0; throw new Error("seen")',
    fails(/^seen$/),
  ),
  body('console replaced', 'console.log = null; globalThis.console = 1; ctx.log = 2; return "fine"', returns('fine')),
  body('ctx changed', 'ctx.echo = () => "mine"; return ctx.echo()', returns('mine')),
  body(
    'random and time replaced',
    'Math.random = () => 2; Date.now = () => 3; return [Math.random(), Date.now(), ctx.now() > 1e12]',
    returns([2, 3, true]),
  ),
]

const HOST_NAMES =
  "['process', 'require', 'fetch', 'Worker', 'self', 'window', 'postMessage', 'importScripts', 'hostCall', 'WebAssembly', 'indexedDB', 'XMLHttpRequest', 'Deno', 'module', 'exports']"
const found = `${HOST_NAMES}.filter((name) => name in g)`

const escapes = [
  body(
    'the constructor of a function',
    `const g = (() => {}).constructor('return this')(); return [g === globalThis, ${found}]`,
    returns([true, []]),
  ),
  body(
    'the constructor of an operation',
    `const g = ctx.echo.constructor('return this')(); return [g === globalThis, ${found}]`,
    returns([true, []]),
  ),
  body(
    'the constructor of a reply',
    `const g = (await ctx.echo({})).constructor.constructor('return this')(); return [g === globalThis, ${found}]`,
    returns([true, []]),
  ),
  body(
    'the constructor of an error of the host',
    `try { await ctx.fail() } catch (e) { const g = e.constructor.constructor('return this')(); return [g === globalThis, ${found}] }`,
    returns([true, []]),
  ),
  body(
    'the async function constructor',
    `const g = await (async () => {}).constructor('return globalThis')(); return ${found}`,
    returns([]),
  ),
  body('import()', 'await import("fs")', fails(/./)),
  body(
    'import() that is caught',
    'try { await import("data:text/javascript,1") } catch { return "refused" }',
    returns('refused'),
  ),
  body('the caller of a handler', 'return (function () { return arguments.callee.caller })()', fails(/TypeError/)),
  body(
    'the native clock behind Date',
    'const D = new Date(0).constructor; return [D === Date, D.now() > 1e12, new D().getTime() === ctx.now()]',
    returns([true, true, true]),
  ),
  body('waiting with Atomics', 'return typeof Atomics', returns('undefined')),
  body('waiting for the clock', 'const until = Date.now() + 1000; while (Date.now() < until);', cpu, { limits: BRIEF }),
  body(
    'polluting ctx',
    'ctx.__proto__.echo = 1; ({}).__proto__.polluted = 1; return typeof ctx.echo',
    returns('function'),
  ),
]

const manyCalls = [
  body('two mutations at once', 'await Promise.all([ctx.send(1), ctx.send(2)])', fails(/second mutation/), {
    calls: ['send', 'send'],
  }),
  body('a mutation is the end', 'await ctx.send(1); for (;;);', ends, { calls: ['send'] }),
  body(
    'a mutation cannot be caught',
    'try { await ctx.send(1) } catch { return "caught" } finally { return "after" }',
    ends,
  ),
  body('a mutation, not waited for', 'ctx.send(1)', fails(/without waiting for ctx\.send.*await/), { calls: [] }),
  body('a mutation and an error', 'ctx.send(1); throw new Error("after all not")', fails(/after all not/), {
    calls: [],
  }),
  body(
    '64 calls at once',
    'return (await Promise.all(Array.from({ length: 64 }, (_, i) => ctx.echo(i)))).length',
    returns(64),
  ),
  body(
    '65 calls at once',
    'await Promise.all(Array.from({ length: 65 }, (_, i) => ctx.echo(i)))',
    fails(/more than 64 calls.*"hostCallsInFlight"/),
    { calls: [] },
  ),
  body(
    '100,000 calls at once',
    'await Promise.all(Array.from({ length: 1e5 }, (_, i) => ctx.send(i)))',
    fails(/"hostCallsInFlight"/),
    { calls: [] },
  ),
  body(
    '100,000 calls, all caught',
    'for (let i = 0; i < 1e5; i++) { try { ctx.send(i).catch(() => {}) } catch {} } return 1',
    fails(/"hostCallsInFlight"/),
    { calls: [] },
  ),
  body('microtasks left after the return', '(async () => { for (;;) await null })(); return "done"', returns('done')),
  body(
    'a loop left after the return',
    'Promise.resolve().then(() => Promise.resolve()).then(() => { for (;;); }); return "done"',
    returns('done'),
  ),
  body(
    'calls left after the return',
    'const slow = ctx.never(); await ctx.echo(1); slow.then(() => { for (;;); }); return "done"',
    returns('done'),
  ),
  body('an operation that does not exist', 'await ctx.nothing.here()', fails(/TypeError/)),
  body('arguments that are no JSON', 'await ctx.echo(1n)', fails(/bigint/i), { calls: [] }),
  body('cyclic arguments', 'const a = []; a.push(a); await ctx.echo(a)', fails(/circular/i), { calls: [] }),
  body('arguments with traps', 'await ctx.echo({ get a() { throw new Error("trap") } })', fails(/^trap$/), {
    calls: [],
  }),
]

const floods = [
  body('too many log lines', 'for (let i = 0; ; i++) console.log(i)', fails(/1,000 log lines.*"logLines"/)),
  body('too many log lines, caught', 'for (;;) { try { console.log("x") } catch {} }', fails(/"logLines"/)),
  body('too much log', "for (;;) console.log('x'.repeat(1e4))", fails(/256 KiB of log.*"logBytes"/)),
  body('a log line of 20 MB', `console.log(${TWENTY_MB})`, fails(/"logBytes"/)),
  body(
    'log lines with traps',
    'console.log(new Proxy({}, { get() { throw 1 } }), { toJSON() { throw 2 } }); return "fine"',
    returns('fine'),
  ),
]

const own = (name: string) =>
  `exports.default = { producers: { [${JSON.stringify(name)}]: { handler: () => 'mine' } } }`

const names = [
  script('a handler named constructor', own('constructor'), returns('mine'), { handler: 'constructor' }),
  script('a handler named __proto__', own('__proto__'), returns('mine'), { handler: '__proto__' }),
  script('a handler named toString', own('toString'), returns('mine'), { handler: 'toString' }),
  script('constructor where there is none', PLAIN, fails(/no producer named "constructor"/), {
    handler: 'constructor',
  }),
  script('__proto__ where there is none', PLAIN, fails(/no producer named "__proto__"/), { handler: '__proto__' }),
  script(
    'a phase that is not there',
    'exports.default = { consumers: { c: { prepare() {} } } }',
    fails(/no function "mutate"/),
    { handler: 'c', phase: 'mutate' },
  ),
  script('a script without a workflow', 'const x = 1', fails(/has no workflow/)),
  script(
    'a workflow that is a proxy',
    'exports.default = new Proxy({}, { get() { throw new Error("trap") } })',
    fails(/^trap$/),
  ),
  script('a workflow that is a promise', 'exports.default = Promise.resolve({})', fails(/no producer named/)),
  script('a workflow that is text', 'exports.default = "workflow"', fails(/has no workflow/)),
  script('a bare workflow', 'const workflow = { producers: { p: { handler: () => "bare" } } }', returns('bare')),
  script(
    'defineWorkflow replaced',
    'globalThis.defineWorkflow = 1; exports.default = { producers: { p: { handler: () => 1 } } }',
    returns(1),
  ),
]

export const hostileScripts: readonly HostileScript[] = [
  ...endlessLoops,
  ...waits,
  ...recursion,
  ...memoryBombs,
  ...nativeLoops,
  ...slowNumbersAndRegexes,
  ...results,
  ...errors,
  ...overrides,
  ...escapes,
  ...manyCalls,
  ...floods,
  ...names,
]
