import { err } from '#engine/model/result.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import { expect, test } from 'vitest'
import { createFakeThreads, type FakeThread } from '../../support/fake-threads.ts'
import { createFakePhaseHost, phaseRequest, value } from '../../support/phase.ts'

const PREPARED = '{"reservations":[{"topic":"t","ids":["a"]}]}'
const then = { hasMutate: true, hasNext: true, state: 'null' }

const lastJob = ({ posted }: FakeThread) => posted.findLast((message) => message.type === 'phase')?.job

const open = (cap?: number) => {
  const { spawn, threads } = createFakeThreads()
  const wasm = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
  const pool = createSandboxPool({ wasm, spawn, compile: () => Promise.resolve(err([])), ...(cap && { cap }) })
  return { pool, threads }
}

test('an answer that comes when its phase is over is not given to the next phase of that thread', async () => {
  const { pool, threads } = open(1)
  let answer: (() => void) | undefined
  const host = createFakePhaseHost({
    slow: () => new Promise((resolve) => (answer = () => resolve(value('secret')))),
    'topics.publish': () => {
      answer?.()
      return value(null)
    },
  })
  const outcome = pool.runPhase(phaseRequest('', { workflowId: 'wf_a', host }))
  const other = pool.runPhase(phaseRequest('', { workflowId: 'wf_b' }))
  const [thread] = threads
  thread?.say({ type: 'turn', calls: [{ id: 1, op: 'slow', args: '[]' }], taken: 0 })
  const noted = [{ id: 2, op: 'topics.publish', args: '["t",{}]' }]
  thread?.say({ type: 'done', ending: { outcome: { kind: 'returned', value: '1' } }, noted })
  await outcome
  expect(thread?.posted.map(({ type }) => type)).toEqual(['boot', 'phase', 'phase'])
  pool.close()
  await other
})

test('a workflow whose handlers all hang when they are run ahead has one thread for that, and not one for each of them', async () => {
  const { pool, threads } = open()
  let ahead = 0
  for (const handler of ['a', 'b', 'c', 'd', 'e']) {
    const outcome = pool.runPhase(phaseRequest('', { phase: 'prepare', handler, then }))
    const thread = threads.find((each) => lastJob(each)?.handler === handler)
    const goesOn = thread !== undefined && lastJob(thread)?.then !== undefined
    if (goesOn) ahead += 1
    thread?.say({ type: 'done', ending: { outcome: { kind: 'returned', value: PREPARED } }, goesOn })
    expect(await outcome).toEqual({ kind: 'returned', value: PREPARED })
    // Nothing is heard of `mutate`.
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  expect(ahead).toBe(1)
  expect(pool.threads).toBeLessThan(4)
  pool.close()
})
