import { describe, expect, it } from 'vitest'
import { createSessionCheck } from '#worker/check-session.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { loadQuickjsWasm } from '../support/quickjs-wasm.ts'

const check = createSessionCheck(await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript }))
const source = 'export default defineAgent({ prepare() { return { reservations: [] } } })'
const agent = (key: string, more = {}) => ({ key, role: 'worker', task: 'do it', source, ...more })

describe('checking a session without creating it', () => {
  it('has nothing to say about a good one', async () => {
    const request = { objective: 'x', strategy: 'adaptive', agents: [agent('a'), agent('b', { dependsOn: ['a'] })] }
    expect(await check(request)).toEqual({ ok: true, value: [] })
  })

  it('names the agents of a circle, and the line in a script that is wrong', async () => {
    const circle = [agent('a', { dependsOn: ['b'] }), agent('b', { dependsOn: ['a'] })]
    const broken = agent('c', { source: 'export default\n  defineAgent({ prepare: 1 })' })
    const checked = await check({ objective: 'x', strategy: 'adaptive', agents: [...circle, broken] })
    const found = checked.ok ? checked.value : []
    expect(found).toContainEqual(expect.objectContaining({ agents: expect.arrayContaining(['a', 'b']) as string[] }))
    expect(found).toContainEqual(expect.objectContaining({ agents: ['c'], line: 2 }))
  })

  it('answers for what is no session at all', async () => {
    const checked = await check(null)
    expect(checked.ok && checked.value.length).toBeGreaterThan(0)
  })
})
