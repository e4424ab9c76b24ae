import { err } from '#engine/model/result.ts'
import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import { createSandboxPool, type SandboxPoolOptions } from '#worker/sandbox/create-sandbox-pool.ts'
import { afterAll, afterEach, expect, test } from 'vitest'
import { prepareNodeThreads } from '../../support/node-threads.ts'
import { createFakePhaseHost, phaseRequest, producer, summarize, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const wasm = await loadQuickjsWasm()
const { spawn, remove } = await prepareNodeThreads()
afterAll(remove)

let pool: ReturnType<typeof createSandboxPool>
afterEach(() => pool.close())

function open(options: Partial<SandboxPoolOptions> = {}) {
  pool = createSandboxPool({ wasm, spawn, compile: () => Promise.resolve(err([])), ...options })
}
const run = async (body: string, wanted: Partial<PhaseRequest> = {}) =>
  summarize(await pool.runPhase(phaseRequest(producer(body), wanted)))

const HANG = '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)'

test('a phase in another thread is answered by the host here', async () => {
  open()
  const host = createFakePhaseHost({ 'http.get': ([url]) => value({ url: url ?? null }) })
  const body = 'console.log("hi"); return [await ctx.http.get("a"), await ctx.http.get("b")]'
  expect(await run(body, { operations: ['http.get'], host })).toEqual([{ url: 'a' }, { url: 'b' }])
  expect(host.logs).toEqual([{ level: 'info', message: 'hi' }])
})

test('a thread that cannot be interrupted is ended, and only its own phase fails', async () => {
  open()
  let release: (() => void) | undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const host = createFakePhaseHost({ wait: () => released.then(() => value('patient')) })
  const patient = run('return ctx.wait()', { operations: ['wait'], host, workflowId: 'wf_patient' })

  const hung = await run(HANG, { limits: { cpuMs: 200 }, workflowId: 'wf_hung' })
  expect(hung).toMatch(/^logic: The script took too long.*"cpuMs"/)
  expect(await run('return 1', { workflowId: 'wf_hung' })).toBe(1)
  release?.()
  expect(await patient).toBe('patient')
})

test('a thread that hangs after a reply is ended too', async () => {
  open()
  const body = `await Promise.race([ctx.a(), ctx.b()]); ${HANG}`
  expect(await run(body, { operations: ['a', 'b'], limits: { cpuMs: 200 } })).toMatch(
    /^logic: The script took too long/,
  )
})

test('a script that hangs while it is loaded is ended', async () => {
  open()
  const code = `${HANG}; ${producer('')}`
  const outcome = await pool.runPhase(phaseRequest(code, { limits: { cpuMs: 200 } }))
  expect(summarize(outcome)).toMatch(/^logic: The script took too long/)
})

test('host calls are aborted when the phase runs into its wall limit', async () => {
  open()
  let wasAborted = false
  const host = createFakePhaseHost({
    hang: (_args, signal) => new Promise(() => signal.addEventListener('abort', () => (wasAborted = true))),
  })
  const outcome = await run('return ctx.hang()', { operations: ['hang'], host, limits: { wallMs: 50 } })
  expect(outcome).toMatch(/^logic: The script took too long.*"wallMs"/)
  expect(wasAborted).toBe(true)
})

test('when no more threads are allowed, workflows take turns', async () => {
  open({ size: 1, cap: 1 })
  const order: string[] = []
  const enter = (workflowId: string) =>
    run('return 1', { workflowId }).then(() => {
      order.push(workflowId)
    })
  await Promise.all([
    enter('greedy'),
    enter('greedy'),
    enter('greedy'),
    enter('greedy'),
    enter('modest'),
    enter('other'),
  ])
  expect(order).toEqual(['greedy', 'greedy', 'modest', 'other', 'greedy', 'greedy'])
  expect(pool.threads).toBe(1)
})

test('phases that wait do not keep others from running', async () => {
  open({ size: 1, cap: 4 })
  const waiting = Array.from({ length: 3 }, () =>
    run('return ctx.hang()', {
      operations: ['hang'],
      host: createFakePhaseHost({ hang: () => new Promise(() => undefined) }),
      limits: { wallMs: 20_000 },
    }),
  )
  expect(await run('return "through"')).toBe('through')
  pool.close()
  expect(await Promise.all(waiting)).toEqual(Array(3).fill('internal: The sandbox was closed.'))
})

test('a workflow object is described in another thread', async () => {
  open()
  const shape = await pool.describe({ code: producer(''), positionOf: () => ({ line: 1, column: 1 }) })
  expect(shape).toEqual({ ok: true, value: { producers: { p: { handler: { $function: true } } } } })
})
