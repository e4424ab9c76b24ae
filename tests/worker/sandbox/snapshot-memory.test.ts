import { failure } from '#engine/model/errors.ts'
import { resolveLimits } from '#worker/sandbox/limits.ts'
import { probeLayout, stackPointerOf } from '#worker/sandbox/linear-memory.ts'
import { createMeter } from '#worker/sandbox/meter.ts'
import { createLocalLink, phaseToJob } from '#worker/sandbox/phase-link.ts'
import { runPhase } from '#worker/sandbox/run-phase.ts'
import { createSnapshotMemory } from '#worker/sandbox/snapshot-memory.ts'
import type { Guest } from '#worker/sandbox/guest.ts'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest, refuse, summarize, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const limits = resolveLimits({ cpuMs: 60_000 })

/** One script, many ways to leave traces: the handler evaluates its argument. */
const TRACES = `
  const kept = []
  let counter = 0
  exports.default = { producers: { p: { async handler(body, ctx) {
    return (0, eval)('(async (ctx, kept) => {' + body + '})')(ctx, kept)
  } } } }`
const script = { id: 'scr_traces', code: TRACES }

const lend = async (memory: Awaited<ReturnType<typeof createSnapshotMemory>>): Promise<Guest> => {
  const lent = await memory.lend(script, limits)
  if (!lent.ok) throw new Error(lent.error.message)
  return lent.value
}

const run = async (guest: Guest, body: string) => {
  const host = createFakePhaseHost({ echo: (args) => value(args), fail: () => refuse(failure('auth', 'no')) })
  const request = phaseRequest(TRACES, { args: [JSON.stringify(body)], operations: ['echo', 'fail'], host })
  const meter = createMeter(limits)
  const link = createLocalLink(host, new AbortController().signal)
  return summarize(await runPhase({ guest, job: phaseToJob(request), limits, meter, link }))
}

const copyOf = (guest: Guest) => Buffer.from(guest.instance.memory.buffer.slice(0))

test.each([
  ['globals and prototypes', 'globalThis.leak = 1; Array.prototype.leak = Object.prototype.leak = 2; return 1'],
  ['module variables', 'kept.push("secret"); return kept.length'],
  ['much memory', 'for (let i = 0; i < 2e5; i++) kept.push({ secret: i }); return kept.length'],
  ['memory that was freed again', 'for (let i = 0; i < 20; i++) new Uint8Array(2e6).fill(7); return 1'],
  ['a deep stack', 'let depth = 0; const f = () => { depth++; f() }; try { f() } catch {} return depth > 100'],
  ['a deep stack of native functions', 'try { JSON.parse("[".repeat(1e5)) } catch {} return 1'],
  ['host calls and their errors', 'await ctx.echo("secret"); await ctx.fail().catch(() => {}); return 1'],
  [
    'a call that was never answered',
    'ctx.echo("secret").then(() => {}); for (let i = 0; i < 99; i++) await null; throw new Error("secret")',
  ],
  ['jobs that were never run', 'for (let i = 0; i < 500; i++) (async () => { for (;;) await null })(); return 1'],
  ['a large result', 'return "x".repeat(9e5)'],
  ['a patched protocol', 'JSON.parse = Promise.prototype.then = null; return 1'],
])('after %s the memory is what it was, to the last byte', async (_trace, body) => {
  const memory = await createSnapshotMemory(wasm)
  memory.takeBack(await lend(memory), true)
  const guest = await lend(memory)
  const before = copyOf(guest)
  const pointerBefore = stackPointerOf(guest.instance)

  const first = await run(guest, body)
  expect(before.equals(copyOf(guest))).toBe(false)
  memory.takeBack(guest, true)
  expect(await lend(memory)).toBe(guest)

  expect(before.equals(copyOf(guest))).toBe(true)
  expect(stackPointerOf(guest.instance)).toBe(pointerBefore)
  expect(await run(guest, body)).toEqual(first)
})

test('one instance serves many scripts, and each finds only itself', async () => {
  const memory = await createSnapshotMemory(wasm)
  const codeOf = (name: string) => ({ id: name, code: `globalThis.${name} = 1; ${TRACES}` })
  const guests = new Set<Guest>()
  for (const name of ['first', 'second', 'first', 'third', 'second', 'first']) {
    const lent = await memory.lend(codeOf(name), limits)
    if (!lent.ok) throw new Error(lent.error.message)
    guests.add(lent.value)
    const found = await run(lent.value, 'return ["first", "second", "third"].filter((name) => name in globalThis)')
    expect(found).toEqual([name])
    memory.takeBack(lent.value, true)
  }
  expect(guests.size).toBe(1)
})

test('a guest that was interrupted or broken is never lent again', async () => {
  const memory = await createSnapshotMemory(wasm)
  const guest = await lend(memory)
  memory.takeBack(guest, false)
  expect(await lend(memory)).not.toBe(guest)
})

test('a guest whose stack pointer moved is never lent again', async () => {
  const memory = await createSnapshotMemory(wasm)
  const guest = await lend(memory)
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  expect(() => guest.load(deep)).toThrow(RangeError)
  memory.takeBack(guest, true)
  expect(await lend(memory)).not.toBe(guest)
})

test('a script that fails to load does not cost the images of the others', async () => {
  const memory = await createSnapshotMemory(wasm)
  const guest = await lend(memory)
  memory.takeBack(guest, true)
  expect(await memory.lend({ id: 'scr_bad', code: 'throw new Error("bad")' }, limits)).toMatchObject({ ok: false })
  expect(await lend(memory)).toBe(guest)
  expect(await run(guest, 'return kept.length')).toBe(0)
})

test('an unknown build of QuickJS is not snapshot', async () => {
  const path = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
  const bytes = await readFile(path)
  const name = bytes.lastIndexOf(Buffer.from([2, ...Buffer.from('Oa'), 0]))
  bytes.write('Oz', name + 1)
  const renamed = await WebAssembly.compile(bytes)
  expect(await probeLayout(wasm)).toBeDefined()
  expect(await probeLayout(renamed)).toBeUndefined()
})
