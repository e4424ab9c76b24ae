import { expect, test } from './support/test.ts'

const worker = `
export default defineAgent({
  permissions: ['demo'],
  async prepare(state, ctx) {
    const [event] = await ctx.topics.peek('task', { limit: 1 })
    if (!event) return { reservations: [], data: {} }
    return { reservations: [{ topic: 'task', ids: [event.messageId] }], data: { task: ctx.session.task, got: ctx.session.handoff } }
  },
  async mutate(prepared, ctx) { await ctx.demo.sheet.append({ sheet: 'team', values: { task: prepared.data.task } }) },
  async next(prepared, mutation, ctx) { await ctx.session.output({ done: prepared.data.task, got: prepared.data.got }) },
})`

test('agents of a session run in the order of their dependencies and hand their outputs on', async ({ page }) => {
  await page.goto('./')
  const status = await page.evaluate(async (source) => {
    const engine = globalThis.holdfast
    const created = await engine.createSession({
      objective: 'Write a report',
      strategy: 'adaptive',
      agents: [
        { key: 'research', role: 'researcher', task: 'look things up', source },
        { key: 'write', role: 'writer', task: 'write it down', source, dependsOn: ['research'] },
      ],
    })
    if (!created.ok) return created
    await engine.startSession(created.value.sessionId)
    for (let turn = 0; turn < 200; turn += 1) {
      const now = await engine.getSessionStatus(created.value.sessionId)
      if (!now.ok || now.value.session.state !== 'running') return now
      await engine.idle({ timeoutMs: 500 })
    }
    return engine.getSessionStatus(created.value.sessionId)
  }, worker)
  expect(status).toMatchObject({ ok: true, value: { session: { state: 'completed' }, progress: 1 } })
})
