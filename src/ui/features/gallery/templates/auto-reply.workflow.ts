import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

const answers: Record<string, string> = {
  question: 'Thank you for your question. A colleague will answer it today.',
  problem: 'We are sorry about that and are looking into it now.',
  thanks: 'You are very welcome!',
}

export default defineWorkflow({
  name: 'Auto reply',
  permissions: ['demo'],
  topics: { mail: {} as Topic<DemoMail> },

  producers: {
    readInbox: {
      schedule: { interval: '30s' },
      publishes: ['mail'],
      async handler(state: { after?: string } | null, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after, withArchived: true })
        for (const mail of mails) {
          await ctx.topics.publish('mail', { messageId: mail.id, title: mail.subject, payload: mail })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  consumers: {
    reply: {
      subscribe: ['mail'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('mail', { limit: 1 })
        if (!event) return { reservations: [] }
        const { id, name, topic } = event.payload
        const answer = answers[topic]
        return {
          reservations: [{ topic: 'mail', ids: [event.messageId] }],
          data: answer ? { id, text: `Hello ${name.split(' ')[0]},\n\n${answer}` } : null,
          ui: { title: answer ? `Answer ${name}` : `Leave "${event.title}" to people` },
        }
      },
      // A mutate that calls nothing is fine: the event is done all the same.
      async mutate(prepared: Prepared<{ id: string; text: string } | null>, ctx) {
        if (prepared.data) await ctx.demo.inbox.reply(prepared.data)
      },
    },
  },
})
