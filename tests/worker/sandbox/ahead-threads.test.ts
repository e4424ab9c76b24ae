import { err } from '#engine/model/result.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import { expect, test } from 'vitest'
import { createFakeThreads, type FakeThread } from '../../support/fake-threads.ts'
import { phaseRequest } from '../../support/phase.ts'

const PREPARED = '{"reservations":[{"topic":"t","ids":["a"]}]}'
const then = { hasMutate: true, hasNext: true, state: 'null' }

const lastJob = ({ posted }: FakeThread) => posted.findLast((message) => message.type === 'phase')?.job

test('a workflow whose handlers all hang when they are run ahead has one thread for that, and not one for each of them', async () => {
  const { spawn, threads } = createFakeThreads()
  const wasm = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
  const pool = createSandboxPool({ wasm, spawn, compile: () => Promise.resolve(err([])) })
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
