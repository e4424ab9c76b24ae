import { defineAgent } from 'holdfast'

/** Listens to what colleagues said in a channel and hands over the open questions. */
export default defineAgent({
  name: 'Read the chat',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const messages = await ctx.demo.chat.messages({ channel: ctx.session.task?.channel ?? 'general', limit: 50 })
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: messages.filter(({ text }) => text.endsWith('?')).map(({ from, text }) => `${from}: ${text}`),
      ui: { title: `Listen to ${messages.length} messages` },
    }
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.context.set('openQuestions', prepared.data.length)
    await ctx.session.output({ questions: prepared.data })
  },
})
