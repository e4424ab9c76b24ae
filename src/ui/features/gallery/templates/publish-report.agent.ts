import { defineAgent } from 'holdfast'

/** Says the rankings that were handed over in a channel, { channel: 'reports' }. */
export default defineAgent({
  name: 'Publish the report',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const parts = Object.values(ctx.session.handoff).map((output) => {
      const names = (output?.ranking ?? []).map((entry: { name: string }) => entry.name)
      return `By ${output?.by ?? 'nothing'}: ${names.join(', ') || 'nobody'}`
    })
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: {
        channel: String(ctx.session.task?.channel ?? 'reports'),
        text: [ctx.session.objective, ...parts].join('\n'),
      },
      ui: { title: 'Publish the report' },
    }
  },
  async mutate(prepared, ctx) {
    await ctx.demo.chat.send(prepared.data)
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.output({ text: prepared.data.text })
  },
})
