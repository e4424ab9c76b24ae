import { defineAgent } from 'holdfast'

/** Puts together what the readers found and tells the team, once. */
export default defineAgent({
  name: 'Write the briefing',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const { inbox, chat, customers } = ctx.session.handoff
    const lines = [
      ctx.session.objective,
      `• ${inbox?.mails.length ?? 0} mails in the inbox`,
      `• ${chat?.questions.length ?? 0} open questions in the chat`,
      `• ${customers?.customers.length ?? 0} customers on file`,
    ]
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: { text: lines.join('\n') },
      ui: { title: 'Tell the team' },
    }
  },
  async mutate(prepared, ctx) {
    await ctx.demo.chat.send({ channel: 'briefing', text: prepared.data.text })
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.send('clerk', { note: 'The briefing is out' })
    await ctx.session.output(prepared.data)
  },
})
