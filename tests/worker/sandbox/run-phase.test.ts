import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { createFreshMemory } from '#worker/sandbox/fresh-memory.ts'
import { createSnapshotMemory } from '#worker/sandbox/snapshot-memory.ts'
import { failure } from '#engine/model/errors.ts'
import { err } from '#engine/model/result.ts'
import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import { describe, expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest, producer, refuse, summarize, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const compile = () => Promise.resolve(err([]))

describe.each([
  ['snapshot', await createSnapshotMemory(wasm)],
  ['fresh instance', createFreshMemory(wasm)],
])('a phase with clean memory by %s', async (_name, memory) => {
  const sandbox = await createSandbox({ wasm, compile, memory })
  const run = (code: string, wanted: Partial<PhaseRequest> = {}) => sandbox.runPhase(phaseRequest(code, wanted))
  const outcome = async (code: string, wanted: Partial<PhaseRequest> = {}) => summarize(await run(code, wanted))

  test('gives back what the handler returned', async () => {
    expect(
      await outcome(producer('return { cursor: state.cursor + 1, __proto__x: 1 }'), { args: ['{"cursor":1}'] }),
    ).toEqual({
      cursor: 2,
      __proto__x: 1,
    })
  })

  test('hands calls to the host and their answers to the script', async () => {
    const host = createFakePhaseHost({ 'demo.inbox.list': ([options]) => value([options ?? null, 'mail']) })
    const code = producer('return (await ctx.demo.inbox.list({ after: 3 }))[0].after')
    expect(await outcome(code, { operations: ['demo.inbox.list'], host })).toBe(3)
    expect(host.calls).toEqual([{ op: 'demo.inbox.list', args: '[{"after":3}]' }])
  })

  test('an error of the host can be caught, with its class and message', async () => {
    const host = createFakePhaseHost({ 'http.get': () => refuse(failure('network', 'no route')) })
    const code = producer(
      'try { await ctx.http.get("x") } catch (e) { return [e.type, e.message, e instanceof Error] }',
    )
    expect(await outcome(code, { operations: ['http.get'], host })).toEqual(['network', 'no route', true])
  })

  test('an error of the host that is not caught keeps its class, and carries the line of the call', async () => {
    const host = createFakePhaseHost({
      'http.get': () => refuse(failure('network', 'slow down', { retryAfterMs: 7_000 })),
    })
    const code = producer('\n  await null\n  await ctx.http.get("x")\n')
    const result = await run(code, { operations: ['http.get'], host })
    expect(result).toMatchObject({
      failure: { type: 'network', message: 'slow down', retryAfterMs: 7_000, position: { line: 3 } },
    })
  })

  test('a script cannot give its own error another class', async () => {
    expect(await outcome(producer('throw Object.assign(new Error("mine"), { type: "network", host: 1 })'))).toBe(
      'logic: mine',
    )
  })

  test.each([
    ['prepare', ['1'], '[1,"ctx"]'],
    ['mutate', ['1'], '[1,"ctx"]'],
    ['next', ['1', '{"status":"none"}'], '[1,{"status":"none"},"ctx"]'],
  ] as const)('%s gets its arguments and then ctx, and its consumer as this', async (phase, args, value) => {
    const list = '(...args) { return args.map((arg) => arg?.log ? this.mark : arg) }'
    const code = `exports.default = { consumers: { c: { mark: 'ctx', async prepare${list}, mutate${list}, async next${list} } } }`
    expect(await run(code, { phase, handler: 'c', args })).toEqual({ kind: 'returned', value })
  })

  test('plain values on ctx and operations below them stand side by side', async () => {
    const host = createFakePhaseHost({ 'session.context.get': ([key]) => value({ asked: key ?? null }) })
    const code = producer('return [ctx.session.objective, await ctx.session.context.get("k"), typeof ctx.session.send]')
    const wanted = {
      operations: ['session.context.get', 'session.send', 'log.info', '__proto__.polluted'],
      values: { session: { objective: 'win', context: 'replaced' } },
      host,
    }
    expect(await outcome(code, wanted)).toEqual(['win', { asked: 'k' }, 'function'])
  })

  test('nothing is left of an earlier phase', async () => {
    const scriptId = 'scr_same'
    const code = producer(`
      const before = [globalThis.leak, [].leak, counter]
      globalThis.leak = Array.prototype.leak = 1
      counter += 1
      return before
    `).replace('exports', 'let counter = 0; exports')
    for (let i = 0; i < 3; i += 1) expect(await outcome(code, { scriptId })).toEqual([null, null, 0])
  })

  test('an endless loop ends at the limit, which the failure names', async () => {
    expect(await outcome(producer('for (;;);'), { limits: { cpuMs: 50 } })).toMatch(
      /^logic: The script took too long.*cpuMs/,
    )
  })

  test.each([
    ['an endless loop', 'f()\n\n  for (;;) {\n    f()\n  }', {}, 5],
    ['an endless loop after an await', 'await ctx.nap()\n  for (;;) {\n    f()\n  }', {}, 4],
    ['too many calls', 'f()\n  for (;;)\n    ctx.nap()', {}, 4],
    ['too much log', 'f()\n  for (;;)\n    console.log(1)', {}, 4],
    ['a value that is too large', 'f()\n  await ctx.nap("x".repeat(2000))', { valueBytes: 1000 }, 3],
  ])('%s is stopped with the line it was in', async (_name, body, limits, line) => {
    const code = producer(`const f = () => 1\n  ${body}`)
    const result = await run(code, { operations: ['nap'], limits: { cpuMs: 100, ...limits } })
    expect(result).toMatchObject({ kind: 'failed', failure: { type: 'logic', position: { line, column: null } } })
  })

  test('waiting for nothing is noticed at once', async () => {
    expect(await outcome(producer('await new Promise(() => {})'))).toMatch(/^logic: The handler waits for something/)
  })

  test('an error thrown after an await carries its line and column', async () => {
    const code = producer('\nawait ctx.nap()\n   throw new Error("late")')
    expect(await run(code, { operations: ['nap'] })).toMatchObject({
      failure: { type: 'logic', message: 'late', position: { line: 3, column: expect.any(Number) as number } },
    })
  })
})
