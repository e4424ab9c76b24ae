import { ok, type Result } from '#engine/model/result.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { createTestInput } from '#worker/test-input.ts'
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

  test('of a script that was never deployed is given what was written for it, and changes nothing', async () => {
    await world.deploy(producerScript(publishTwo))
    await world.settle()
    const before = world.dump()
    const events = [{ topic: 'item', messageId: 'made-up', title: 'Made up', payload: { n: 7 } }]
    const report = value(
      await testRun({
        source: consumerScript(),
        handler: 'carry',
        input: { state: { seen: 3 }, events },
        grant: 'declared',
      }),
    )
    expect(report.attempt).toMatchObject({ status: 'committed', inputState: '{"seen":3}' })
    expect(report.attempt.mutation).toMatchObject({
      toolMethod: 'send',
      params: expect.stringContaining('7') as unknown,
    })
    expect(report.input.events).toMatchObject([{ messageId: 'made-up', payload: '{"n":7}' }])
    expect(report.reserved).toMatchObject([{ messageId: 'made-up', title: 'Made up' }])
    expect(world.box.calls).toEqual([])
    expect(world.dump()).toBe(before)
  })

  test('of a script that was never deployed may reach nothing unless it is said', async () => {
    const script = producerScript(`async handler(state, ctx) { await ctx.box.get('secret') }`)
    const asking = script.replace('topics:', "permissions: ['box:secret'], topics:")
    expect(value(await testRun({ source: asking, handler: 'poll' })).attempt.errorType).toBe('permission')
    expect(world.box.calls).toEqual([])
    const granted = value(await testRun({ source: asking, handler: 'poll', grant: ['box:secret'] }))
    expect(granted.attempt.errorType).toBeNull()
    expect(world.box.calls).toMatchObject([{ method: 'get' }])
  })

  test('has the given input instead of what waits', async () => {
    const workflowId = await world.deploy(consumerScript())
    await world.settle()
    await world.engine.pauseWorkflow(workflowId)
    await world.publish(workflowId, 'm1', { n: 1 })
    const input = { events: [{ topic: 'item', messageId: 'other', payload: { n: 2 } }] }
    const report = value(await testRun({ workflowId, source: consumerScript(), handler: 'carry', input }))
    expect(report.reserved.map(({ messageId }) => messageId)).toEqual(['other'])
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
    [{ attemptId: 'hr_none' }, 'no attempt "hr_none" any more'],
    [{ input: { events: [{ topic: 'nowhere', messageId: 'a' }] } }, 'no topic "nowhere". It has "item", "done"'],
    [{ input: { events: {} as never } }, '"events" must be a list'],
  ])('of %j is refused with a sentence', async (wrong, sentence) => {
    const workflowId = await world.deploy(consumerScript())
    const report = await testRun({ workflowId, source: consumerScript(), handler: 'carry', ...wrong })
    expect(JSON.stringify(report).replaceAll('\\', '')).toContain(sentence)
    expect(report.ok).toBe(false)
  })
})

describe('the input of a test run', () => {
  let workflowId: string
  const lastEvent = ({ topic = '' }: { topic?: string }) => {
    const newest =
      'SELECT e.id FROM events e JOIN topics t ON t.id = e.topic_id WHERE t.name = ? ORDER BY e.id DESC LIMIT 1'
    return Promise.resolve(ok({ rows: world.rows(newest, topic) as { id: string }[], hasMore: false }))
  }
  const ask = (attemptId?: string) =>
    createTestInput({ store: world.store, listEvents: lastEvent })({
      workflowId,
      handler: 'carry',
      topics: ['item'],
      ...(attemptId !== undefined && { attemptId }),
    })

  beforeEach(async () => {
    workflowId = await world.deploy(consumerScript())
    await world.settle()
  })

  test('is what waits, or else the last event there was, or else nothing', async () => {
    expect(await ask()).toMatchObject({ ok: true, value: { events: [], from: 'nothing' } })
    await world.publish(workflowId, 'm1', { n: 1 })
    await world.publish(workflowId, 'm2', { n: 2 })
    await world.settle()
    expect(await ask()).toMatchObject({ ok: true, value: { events: [{ messageId: 'm2' }], from: 'latest' } })
    await world.engine.pauseWorkflow(workflowId)
    await world.publish(workflowId, 'm3', { n: 3 })
    expect(await ask()).toMatchObject({ ok: true, value: { events: [{ messageId: 'm3' }], from: 'waiting' } })
  })

  test('is cut where nobody could read it any more', async () => {
    await world.engine.pauseWorkflow(workflowId)
    for (const id of ['m1', 'm2', 'm3']) await world.publish(workflowId, id, { text: 'x'.repeat(140_000) })
    expect(await ask()).toMatchObject({ ok: true, value: { events: [{ messageId: 'm1' }, { messageId: 'm2' }] } })
  })

  test('of an attempt or a workflow that is gone is refused with a sentence', async () => {
    expect(await ask('hr_none')).toMatchObject({ ok: false, error: { code: 'not_found' } })
    workflowId = 'wf_none'
    expect(await ask()).toMatchObject({ ok: false, error: { message: 'There is no workflow "wf_none".' } })
  })
})
