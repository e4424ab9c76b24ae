import { defineAgent } from 'holdfast'

/** Greets the customer that the session is about in a channel, { channel: 'welcome' }. */
export default defineAgent({
  name: 'Greet the customer',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const customer = await ctx.session.context.get('customer')
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: {
        channel: String(ctx.session.task?.channel ?? 'welcome'),
        text: `Welcome, ${customer?.name ?? 'whoever you are'}!`,
      },
      ui: { title: `Greet ${customer?.name ?? 'somebody'}` },
    }
  },
  async mutate(prepared, ctx) {
    await ctx.demo.chat.send(prepared.data)
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.output(prepared.data)
  },
})
