import type { Result } from '#engine/model/result.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { createTestRun, type TestRunReport } from '#worker/test-run.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadSqlJs } from '../support/open-test-store.ts'
import { loadQuickjsWasm } from '../support/quickjs-wasm.ts'
import { consumerScript, producerScript, publishTwo } from '../support/scripts.ts'
import { openTestEngine, type TestEngine } from '../support/test-engine.ts'

let world: TestEngine
let testRun: ReturnType<typeof createTestRun>

beforeEach(async () => {
  world = await openTestEngine()
  testRun = createTestRun({
    sqlJs: await loadSqlJs(),
    store: world.store,
    clock: world.clock,
    sandbox: await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript }),
    tools: world.box.tools,
  })
})

const value = (report: Result<TestRunReport>): TestRunReport => {
  if (!report.ok) throw new Error(report.error.message)
  return report.value
}

describe('a test run', () => {
  test('carries copied events through every phase, records the mutation, and touches nothing real', async () => {
    const workflowId = await world.deploy(consumerScript())
    await world.settle()
    await world.engine.pauseWorkflow(workflowId)
    await world.publish(workflowId, 'm1', { n: 1 })
    const before = world.dump()

    const report = value(await testRun({ workflowId, source: consumerScript(), handler: 'carry' }))
    expect(report.attempt).toMatchObject({ status: 'committed', handlerName: 'carry' })
    expect(report.attempt.mutation).toMatchObject({ toolNamespace: 'box', toolMethod: 'send', status: 'applied' })
    expect(report.input.events).toMatchObject([{ topic: 'item', messageId: 'm1', payload: '{"n":1}' }])
    expect(report.reserved).toMatchObject([{ messageId: 'm1' }])
    expect(report.published).toMatchObject([{ topic: 'done' }])
    expect(world.box.calls).toEqual([])
    expect(world.dump()).toBe(before)
  })

  test('begins with what the handler remembers, and runs that handler alone', async () => {
    const script = producerScript(publishTwo)
    const workflowId = await world.deploy(script)
    await world.settle()
    const report = value(await testRun({ workflowId, source: script, handler: 'poll' }))
    expect(report.attempt).toMatchObject({ status: 'committed', inputState: '{"polls":1}', outputState: '{"polls":2}' })
    expect(report.published.map(({ messageId }) => messageId)).toEqual(['a', 'b'])
  })

  test('of a failed attempt has the input that the attempt had', async () => {
    const failing = `async prepare(state, ctx) {
      const [event] = await ctx.topics.peek('item', { limit: 1 })
      return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: event.payload }
    }`
    const broken = consumerScript({ prepare: failing, mutate: `async mutate(prepared) { prepared.data.missing.part }` })
    const workflowId = await world.deploy(broken)
    await world.publish(workflowId, 'm1', { n: 1 })
    await world.settle()
    const attemptId = String(
      world.value(`SELECT id FROM handler_runs WHERE status LIKE '%failed%' OR status LIKE 'paused%'`),
    )
    const again = value(await testRun({ workflowId, source: broken, handler: 'carry', attemptId }))
    expect(again.attempt.errorType).toBe('logic')
    const mended = consumerScript({ prepare: failing, mutate: null })
    const fixed = value(await testRun({ workflowId, source: mended, handler: 'carry', attemptId }))
    expect(fixed.attempt.status).toBe('committed')
    expect(fixed.reserved).toMatchObject([{ messageId: 'm1' }])
  })

  test('may read only what the workflow was granted', async () => {
    const script = producerScript(`async handler(state, ctx) { await ctx.box.get('secret') }`)
    const workflowId = await world.deploy(script)
    await world.settle()
    world.box.calls.length = 0
    const report = value(await testRun({ workflowId, source: script, handler: 'poll' }))
    expect(report.attempt.errorType).toBe('permission')
    expect(world.box.calls).toEqual([])
  })

  test.each([
    [{ handler: 'nobody' }, 'no producer or consumer "nobody"'],
    [{ workflowId: 'wf_none' }, 'no workflow "wf_none"'],
    [{ source: 'export default 1' }, 'defineWorkflow'],
  ])('of %j is refused with a sentence', async (wrong, sentence) => {
    const workflowId = await world.deploy(consumerScript())
    const report = await testRun({ workflowId, source: consumerScript(), handler: 'carry', ...wrong })
    expect(JSON.stringify(report).replaceAll('\\', '')).toContain(sentence)
    expect(report.ok).toBe(false)
  })
})
