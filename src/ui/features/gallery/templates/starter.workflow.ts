import { defineWorkflow } from 'holdfast'

export default defineWorkflow({
  name: 'My workflow',
  permissions: ['demo'],
  topics: { mail: {} },

  producers: {
    readInbox: {
      schedule: { interval: '1m' },
      publishes: ['mail'],
      async handler(state, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after })
        for (const mail of mails) {
          await ctx.topics.publish('mail', { messageId: mail.id, title: mail.subject, payload: mail })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  consumers: {
    tellTheChat: {
      subscribe: ['mail'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('mail', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'mail', ids: [event.messageId] }],
          data: { text: `${event.payload.name} wrote: ${event.payload.subject}` },
        }
      },
      async mutate(prepared, ctx) {
        await ctx.demo.chat.send({ channel: 'mails', text: prepared.data.text })
      },
    },
  },
})
