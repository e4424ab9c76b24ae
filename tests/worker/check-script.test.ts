import { describe, expect, it } from 'vitest'
import { createScriptCheck } from '#worker/check-script.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { loadQuickjsWasm } from '../support/quickjs-wasm.ts'

const check = createScriptCheck(await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript }))

describe('checking a script without deploying it', () => {
  it('answers with every problem at its place', async () => {
    const checked = await check(
      `export default defineWorkflow({\n  name: 'x', topics: {},\n  producers: { p: {} },\n})`,
    )
    expect(checked).toMatchObject({ ok: true, value: { config: null, permissions: [] } })
    expect(checked.ok && checked.value.problems.map(({ line, severity }) => [line, severity])).toEqual([
      [3, 'error'],
      [3, 'error'],
    ])
  })

  it('puts into words what the script asks for, and has no words for what nobody can grant', async () => {
    const checked = await check(
      `export default defineWorkflow({ name: 'x', permissions: ['demo', 'http:a.example', 'teleport'],
        producers: { p: { schedule: { interval: '5m' }, handler() {} } } })`,
    )
    expect(checked.ok && checked.value.permissions).toEqual([
      { name: 'demo', meaning: 'Use the demo inbox, sheet and chat' },
      { name: 'http:a.example', meaning: 'Send and fetch data at a.example' },
      { name: 'teleport', meaning: null },
    ])
  })

  it('refuses what is no text', async () => {
    expect(await check(7)).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
  })
})
