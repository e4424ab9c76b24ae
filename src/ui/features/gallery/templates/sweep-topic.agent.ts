import { defineAgent } from 'holdfast'

/** Looks after the mails of one topic, { topic: 'invoice' }, and writes one row about them. */
export default defineAgent({
  name: 'Sweep a topic',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const topic = String(ctx.session.task?.topic)
    const mails = (await ctx.demo.inbox.list({ limit: 100, withArchived: true })).filter((mail) => mail.topic === topic)
    const money = mails.reduce((sum, mail) => sum + (mail.amount ?? 0), 0)
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: { topic, mails: mails.length, money },
      ui: { title: `Count the mails about ${topic}` },
    }
  },
  async mutate(prepared, ctx) {
    await ctx.demo.sheet.append({ sheet: 'Sweep', values: prepared.data })
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.context.set(prepared.data.topic, prepared.data.mails)
    await ctx.session.output(prepared.data)
  },
})
