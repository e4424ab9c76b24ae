import { defineAgent } from 'holdfast'

/** Reads the demo inbox and hands over what it found. The task may name one topic: { topic: 'invoice' }. */
export default defineAgent({
  name: 'Read the inbox',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const wanted: string | undefined = ctx.session.task?.topic
    const mails = await ctx.demo.inbox.list({ limit: 100, withArchived: true })
    const found = mails.filter((mail) => wanted === undefined || mail.topic === wanted)
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: found.map(({ name, subject, topic, amount }) => ({ name, subject, topic, amount })),
      ui: { title: `Read ${found.length} mails` },
    }
  },
  async next(prepared, _mutation, ctx) {
    ctx.log.info(`Found ${prepared.data.length} mails`)
    await ctx.session.output({ mails: prepared.data })
  },
})
