import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

const PATIENCE_MS = 5 * 60_000

export default defineWorkflow({
  name: 'Reminders',
  permissions: ['demo'],
  topics: { problem: {} as Topic<DemoMail> },

  producers: {
    findProblems: {
      schedule: { interval: '1m' },
      publishes: ['problem'],
      async handler(state: { after?: string } | null, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after, limit: 100, withArchived: true })
        for (const mail of mails.filter(({ topic }) => topic === 'problem' || topic === 'question')) {
          await ctx.topics.publish('problem', { messageId: mail.id, title: mail.subject, payload: mail })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  consumers: {
    // Gives people five minutes to deal with it. The wait costs nothing and survives a closed tab.
    remind: {
      subscribe: ['problem'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('problem', { limit: 1 })
        if (!event) return { reservations: [] }
        const due = event.createdAt + PATIENCE_MS
        if (ctx.now() < due) return { reservations: [], wakeAt: new Date(due).toISOString() }

        const inbox = await ctx.demo.inbox.list({ limit: 100 })
        const isOpen = inbox.some((mail) => mail.id === event.payload.id)
        return {
          reservations: [{ topic: 'problem', ids: [event.messageId] }],
          data: isOpen ? `Nobody has dealt with "${event.payload.subject}" from ${event.payload.name} yet` : null,
          ui: { title: isOpen ? `Remind of ${event.payload.id}` : `${event.payload.id} is done` },
        }
      },
      async mutate(prepared: Prepared<string | null>, ctx) {
        if (prepared.data) await ctx.demo.chat.send({ channel: 'support', text: prepared.data })
      },
    },
  },
})
