import { err } from '#engine/model/result.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { prepareNodeThreads } from '../../support/node-threads.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'
import { hostileScripts } from './hostile-scripts.ts'
import { disappointments, outcomeClass, runHostileScript } from './run-hostile-script.ts'

const wasm = await loadQuickjsWasm()
const { spawn, remove } = await prepareNodeThreads()
const compile = () => Promise.resolve(err([]))
const snapshot = createSandboxPool({ wasm, spawn, compile, memory: 'snapshot' })
const fresh = createSandboxPool({ wasm, spawn, compile, memory: 'fresh' })

afterAll(async () => {
  snapshot.close()
  fresh.close()
  await remove()
})

test('there are more than a hundred hostile scripts, each with a name of its own', () => {
  expect(new Set(hostileScripts.map(({ name }) => name)).size).toBe(hostileScripts.length)
  expect(hostileScripts.length).toBeGreaterThan(100)
})

describe('snapshot and fresh instance end a hostile script alike, and the next phase is unaffected:', () => {
  test.each(hostileScripts.map((hostile) => [hostile.name, hostile] as const))(
    '%s',
    async (_name, hostile) => {
      const ends = await Promise.all([snapshot, fresh].map((sandbox) => runHostileScript(sandbox, hostile)))
      for (const end of ends) expect(disappointments(hostile, end)).toEqual([])
      expect(new Set(ends.map(({ outcome }) => outcomeClass(outcome))).size).toBe(1)
    },
    60_000,
  )
})
