import { err } from '#engine/model/result.ts'
import type { PhaseHost } from '#engine/ports/sandbox.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { createFreshMemory } from '#worker/sandbox/fresh-memory.ts'
import { expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest, producer, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const compile = () => Promise.resolve(err([]))
const snapshot = await createSandbox({ wasm, compile })
const fresh = await createSandbox({ wasm, compile, memory: createFreshMemory(wasm) })

const CODE = producer(`
  const seen = [Date.now(), new Date().toISOString(), Math.random(), ctx.random(), crypto.randomUUID()]
  const replies = await Promise.all([ctx.slow(Math.random()), ctx.fast(Date.now())])
  seen.push(...replies, Date.now(), ctx.now(), Math.random(), [3, 1, 2].sort(() => Math.random() - 0.5))
  console.log(seen.length, Date.now())
  return seen
`)

const answers = { slow: () => Promise.resolve(value('slow')), fast: () => value('fast') }

/** A host with the real clock and real chance, and what they gave. */
function recording(host: PhaseHost) {
  const times: number[] = []
  const chances: number[] = []
  const note = (list: number[], drawn: number) => (list.push(drawn), drawn)
  return {
    times,
    chances,
    host: { ...host, now: () => note(times, Date.now()), random: () => note(chances, Math.random()) },
  }
}

test.each([
  ['snapshot', snapshot],
  ['fresh instance', fresh],
])('a phase whose time and chance were recorded is replayed exactly, by %s', async (_name, sandbox) => {
  const original = createFakePhaseHost(answers)
  const { times, chances, host } = recording(original)
  const request = { scriptId: 'scr_replay', operations: ['slow', 'fast'] }
  const first = await snapshot.runPhase(phaseRequest(CODE, { ...request, host }))
  expect(first.kind).toBe('returned')

  const again = createFakePhaseHost(answers)
  const replayed = { ...again, now: () => times.shift() ?? NaN, random: () => chances.shift() ?? NaN }
  const second = await sandbox.runPhase(phaseRequest(CODE, { ...request, host: replayed }))

  expect(second).toEqual(first)
  expect(again.calls).toEqual(original.calls)
  expect(again.logs).toEqual(original.logs)
  expect([times, chances]).toEqual([[], []])
})

test('other chance and another time give another phase', async () => {
  const outcomes = await Promise.all(
    [1, 2].map(() =>
      snapshot.runPhase(
        phaseRequest(CODE, { operations: ['slow', 'fast'], host: recording(createFakePhaseHost(answers)).host }),
      ),
    ),
  )
  expect(outcomes[0]).not.toEqual(outcomes[1])
})

test('time stands still while a script computes, and moves on with every reply', async () => {
  const code = producer(`
    const start = Date.now()
    for (let i = 0; i < 1e5; i++);
    const later = Date.now()
    await ctx.fast()
    return [later - start, Date.now() - later]
  `)
  const outcome = await snapshot.runPhase(
    phaseRequest(code, { operations: ['fast'], host: createFakePhaseHost(answers) }),
  )
  expect(outcome).toEqual({ kind: 'returned', value: '[0,1000]' })
})

test('a script uses the same fuel each time, loaded just now or long before', async () => {
  const code = producer('let n = 0; for (let i = 0; i < 50000; i++) n += [i].map((x) => x + 1)[0]; return n')
  const succeeds = async (sandbox: typeof snapshot, fuel: number) => {
    const limits = { fuel, cpuMs: 60_000 }
    const outcome = await sandbox.runPhase(phaseRequest(code, { scriptId: 'scr_fuel', limits }))
    return outcome.kind === 'returned'
  }
  let tooLittle = 1
  let enough = 1_000
  while (enough - tooLittle > 1) {
    const middle = Math.floor((tooLittle + enough) / 2)
    if (await succeeds(snapshot, middle)) enough = middle
    else tooLittle = middle
  }
  expect(tooLittle).toBeGreaterThan(2)
  for (const sandbox of [snapshot, fresh, snapshot, fresh]) {
    expect(await succeeds(sandbox, enough)).toBe(true)
    expect(await succeeds(sandbox, tooLittle)).toBe(false)
  }
}, 60_000)

test('wherever the count of fuel falls, a phase that is over is over', async () => {
  // One step of the count for each n: calls count for one, and so does each turn of a loop twice.
  const code = `exports.default = { producers: { p: { handler(n) {
    const f = () => 1
    if (n % 2) f()
    if (n % 4 > 1) { f(); f() }
    for (let i = 0; i < n >> 2; i++) { f(); f() }
    return n
  } } } }`
  const count = (n: number, limits = {}) =>
    snapshot.runPhase(phaseRequest(code, { scriptId: 'scr_steps', args: [String(n)], limits }))

  // The fewest steps at which QuickJS asks for the second time whether to go on: at the very end of the phase.
  let fewest = 20_000
  for (let step = 10_000; step >= 1; step = Math.floor(step / 2))
    while ((await count(fewest - step, { fuel: 1 })).kind === 'failed') fewest -= step

  for (let n = fewest - 50; n <= fewest + 50; n += 1)
    expect(await count(n)).toEqual({ kind: 'returned', value: String(n) })
}, 60_000)
