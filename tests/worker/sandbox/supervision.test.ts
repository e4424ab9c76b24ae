import { err } from '#engine/model/result.ts'
import type { PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFakeThreads, type FakeThread } from '../../support/fake-threads.ts'
import { createFakePhaseHost, phaseRequest, summarize, value } from '../../support/phase.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DONE: PhaseOutcome = { kind: 'returned', value: '1' }

function open(options: { size?: number; cap?: number; atOnce?: number } = {}) {
  const { spawn, threads } = createFakeThreads()
  // The threads are no threads: nobody looks at the code they are given.
  const wasm = {} as WebAssembly.Module
  const pool = createSandboxPool({ wasm, spawn, compile: () => Promise.resolve(err([])), atOnce: 32, ...options })
  const outcomes: Record<string, unknown> = {}
  const run = (workflowId: string, wanted: Partial<PhaseRequest> = {}) => {
    void pool.runPhase(phaseRequest('', { workflowId, ...wanted })).then((outcome) => {
      outcomes[workflowId] = summarize(outcome)
    })
  }
  const workingOn = (workflowId: string): FakeThread | undefined =>
    threads.find(({ posted, isOver }) => {
      const last = posted.findLast(({ type }) => type === 'phase')
      return !isOver && last?.type === 'phase' && last.job.workflowId === workflowId
    })
  return { pool, threads, run, outcomes, workingOn, settle: () => vi.advanceTimersByTimeAsync(0) }
}

test('threads are booted before they are asked for anything', () => {
  const { threads } = open({ size: 3 })
  expect(threads.map(({ posted }) => posted.map(({ type }) => type))).toEqual([['boot'], ['boot'], ['boot']])
})

test('a thread that hangs is ended after a question without answer, and replaced', async () => {
  const { threads, run, outcomes, workingOn } = open()
  for (const thread of threads) thread.say({ type: 'ready' })
  run('hung')
  run('fine')
  const hung = workingOn('hung')
  await vi.advanceTimersByTimeAsync(5_000)
  workingOn('fine')?.say({ type: 'pong' })
  expect(hung?.posted.at(-1)).toEqual({ type: 'ping' })
  await vi.advanceTimersByTimeAsync(1_000)

  expect(hung?.isOver).toBe(true)
  expect(outcomes).toEqual({ hung: expect.stringMatching(/^logic: The script took too long/) as string })
  expect(threads.filter(({ isOver }) => !isOver).length).toBeGreaterThanOrEqual(2)
  workingOn('fine')?.say({ type: 'done', ending: { outcome: DONE } })
  await vi.advanceTimersByTimeAsync(0)
  expect(outcomes).toMatchObject({ fine: 1 })
})

test('a tab that slept ends nobody: the thread answers as soon as both are awake', async () => {
  const { run, outcomes, workingOn, settle } = open()
  run('sleeper')
  await vi.advanceTimersByTimeAsync(5_500)
  workingOn('sleeper')?.say({ type: 'pong' })
  await vi.advanceTimersByTimeAsync(4_000)
  workingOn('sleeper')?.say({ type: 'done', ending: { outcome: DONE } })
  await settle()
  expect(outcomes).toEqual({ sleeper: 1 })
})

test('a phase that waits for its host may wait as long as the host needs', async () => {
  const { run, outcomes, workingOn, settle } = open()
  let answer: (() => void) | undefined
  const host = createFakePhaseHost({ slow: () => new Promise((resolve) => (answer = () => resolve(value(1)))) })
  run('patient', { host })
  const thread = workingOn('patient')
  thread?.say({ type: 'turn', calls: [{ id: 1, op: 'slow', args: '[]' }], taken: 0 })
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(thread?.isOver).toBe(false)

  answer?.()
  await settle()
  expect(thread?.posted.at(-1)).toMatchObject({ type: 'reply', delivery: { id: 1 } })
  await vi.advanceTimersByTimeAsync(6_000)
  expect(outcomes).toEqual({ patient: expect.stringMatching(/^logic: The script took too long/) as string })
})

test('a thread is not thought to wait while a reply that it was sent is still to be taken', async () => {
  const { run, workingOn, settle } = open()
  run('racing', { host: createFakePhaseHost({ quick: () => value(1) }) })
  const thread = workingOn('racing')
  const call = (id: number) => ({ id, op: id === 1 ? 'quick' : 'never', args: '[]' })
  thread?.say({ type: 'turn', calls: [call(1)], taken: 0 })
  await settle()
  thread?.say({ type: 'turn', calls: [], taken: 0 })
  await vi.advanceTimersByTimeAsync(6_000)
  expect(thread?.isOver).toBe(true)
})

test('all calls of a turn reach the host before any of them is answered', async () => {
  const { run, workingOn, settle } = open()
  const seen: string[] = []
  const host = createFakePhaseHost({
    first: () => (seen.push('first asked'), value(1)),
    second: () => (seen.push('second asked'), value(2)),
  })
  run('both', { host })
  const thread = workingOn('both')
  thread?.say({
    type: 'turn',
    calls: [
      { id: 1, op: 'first', args: '[]' },
      { id: 2, op: 'second', args: '[]' },
    ],
    taken: 0,
  })
  expect(seen).toEqual(['first asked', 'second asked'])
  expect(thread?.posted.some(({ type }) => type === 'reply')).toBe(false)
  await settle()
  expect(thread?.posted.filter(({ type }) => type === 'reply')).toHaveLength(2)
})

test('what the host answers after the phase is over is dropped', async () => {
  const { run, workingOn, settle } = open()
  let answer: (() => void) | undefined
  let wasAborted = false
  const host = createFakePhaseHost({
    slow: (_args, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => (wasAborted = true))
        answer = () => resolve(value(1))
      }),
  })
  run('early', { host })
  const thread = workingOn('early')
  thread?.say({ type: 'turn', calls: [{ id: 1, op: 'slow', args: '[]' }], taken: 0 })
  thread?.say({ type: 'done', ending: { outcome: DONE } })
  answer?.()
  await settle()
  expect(wasAborted).toBe(true)
  expect(thread?.posted.some(({ type }) => type === 'reply')).toBe(false)
})

test('threads that do not start fail what was asked of them, and are not tried again for nothing', async () => {
  const { threads, run, outcomes, workingOn, settle } = open({ size: 2, cap: 2 })
  run('unlucky')
  for (const thread of [...threads]) thread.die('blocked')
  await settle()
  expect(outcomes).toEqual({ unlucky: 'internal: The sandbox stopped: blocked' })
  expect(threads).toHaveLength(2)
  run('lucky')
  workingOn('lucky')?.say({ type: 'done', ending: { outcome: DONE } })
  await settle()
  expect(outcomes).toMatchObject({ lucky: 1 })
})

test('a mistake of ours inside a thread is a failure of the engine, not of the script', async () => {
  const { run, outcomes, workingOn, settle } = open()
  run('innocent')
  workingOn('innocent')?.say({ type: 'broken', message: 'oops' })
  await settle()
  expect(outcomes).toEqual({ innocent: 'internal: The sandbox broke: oops' })
})

test('there is one thread more than is busy, up to the cap, and those without work are let go', async () => {
  const { pool, run, workingOn, settle } = open({ size: 2, cap: 5 })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const name of names) run(name)
  expect(pool.threads).toBe(5)
  for (const name of names) {
    workingOn(name)?.say({ type: 'ready' })
    workingOn(name)?.say({ type: 'done', ending: { outcome: DONE } })
    await settle()
  }
  await vi.advanceTimersByTimeAsync(30_000)
  expect(pool.threads).toBe(2)
})

test('a script goes to a thread that has it at hand', async () => {
  const { run, workingOn, settle } = open({ size: 3 })
  run('a', { scriptId: 'scr_a' })
  run('b', { scriptId: 'scr_b' })
  const first = workingOn('b')
  workingOn('a')?.say({ type: 'done', ending: { outcome: DONE } })
  workingOn('b')?.say({ type: 'done', ending: { outcome: DONE } })
  await settle()
  run('b again', { scriptId: 'scr_b' })
  expect(workingOn('b again')).toBe(first)
})

test('what computes for a moment is waited for by those that come after, and what takes longer is not', async () => {
  const { threads, run, workingOn } = open({ size: 2, atOnce: 2 })
  for (const thread of threads) thread.say({ type: 'ready' })
  for (const name of ['a', 'b', 'c', 'd']) run(name)
  expect([workingOn('c'), workingOn('d')]).toEqual([undefined, undefined])
  workingOn('a')?.say({ type: 'done', ending: { outcome: DONE } })
  expect(workingOn('c')).toBeDefined()
  expect(workingOn('d')).toBeUndefined()
  await vi.advanceTimersByTimeAsync(40)
  expect(workingOn('d')).toBeDefined()
})

test('what waits for its host keeps nobody waiting', () => {
  const { run, workingOn } = open({ size: 1, atOnce: 1 })
  run('waits', { host: createFakePhaseHost({ slow: () => new Promise(() => undefined) }) })
  run('next')
  expect(workingOn('next')).toBeUndefined()
  workingOn('waits')?.say({ type: 'turn', calls: [{ id: 1, op: 'slow', args: '[]' }], taken: 0 })
  run('another')
  expect(workingOn('next') ?? workingOn('another')).toBeDefined()
})

test('never more than 32 threads, whatever is asked', () => {
  const { pool, run } = open({ size: 100, cap: 100 })
  for (let i = 0; i < 40; i += 1) run(`wf_${i}`)
  expect(pool.threads).toBe(32)
})

test('what comes after the end is refused', async () => {
  const { pool, run, outcomes, threads, settle } = open({ size: 1, cap: 1 })
  run('running')
  run('queued')
  pool.close()
  run('late')
  await settle()
  expect(outcomes).toEqual({
    running: 'internal: The sandbox was closed.',
    queued: 'internal: The sandbox was closed.',
    late: 'internal: The sandbox is closed.',
  })
  expect(threads.every(({ isOver }) => isOver)).toBe(true)
})
