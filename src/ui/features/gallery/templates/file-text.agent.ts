import { defineAgent } from 'holdfast'

/** Files what the agents before it handed over as one row. The task names the sheet: { sheet: 'Briefings' }. */
export default defineAgent({
  name: 'File it',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const messages = await ctx.session.inbox()
    for (const message of messages) ctx.log.info(`${message.from} wrote`, message.body)
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: {
        sheet: String(ctx.session.task?.sheet ?? 'Filed'),
        values: { at: new Date(ctx.now()).toISOString(), content: JSON.stringify(ctx.session.handoff) },
      },
      ui: { title: 'File the result' },
    }
  },
  async mutate(prepared, ctx) {
    await ctx.demo.sheet.append(prepared.data)
  },
  async next(_prepared, mutation, ctx) {
    await ctx.session.output(mutation.status === 'applied' ? { row: mutation.result.id } : null)
  },
})
