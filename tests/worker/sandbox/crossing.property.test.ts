import { err } from '#engine/model/result.ts'
import type { Json } from '#engine/model/json.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest, producer, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: () => Promise.resolve(err([])) })
const CODE = producer('return [state, ...(await ctx.echo(state))]')

test('any JSON crosses in and out, as argument, call, reply and result, unchanged', async () => {
  const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 })
  await fc.assert(
    fc.asyncProperty(json, async (input) => {
      const text = JSON.stringify(input)
      const host = createFakePhaseHost({ echo: (args) => value(args) })
      const request = { scriptId: 'scr_crossing', args: [text], operations: ['echo'], host }
      const outcome = await sandbox.runPhase(phaseRequest(CODE, request))
      // -0 is 0 in JSON; the keys of an object that look like numbers come first on both sides.
      const again = JSON.stringify(JSON.parse(text) as Json)
      expect(outcome).toEqual({ kind: 'returned', value: `[${again},${again}]` })
    }),
    { numRuns: 300 },
  )
}, 60_000)
