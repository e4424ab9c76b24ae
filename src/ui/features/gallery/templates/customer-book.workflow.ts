import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

type Change = { id: string; values: { lastMail: string; mails: number } }

export default defineWorkflow({
  name: 'Customer book',
  permissions: ['demo'],
  topics: { mail: {} as Topic<DemoMail> },

  producers: {
    readInbox: {
      schedule: { interval: '1m' },
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
    // Looks the sender up in prepare, where reading is free; writes once in mutate.
    noteContact: {
      subscribe: ['mail'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('mail', { limit: 1 })
        if (!event) return { reservations: [] }
        const customers = await ctx.demo.sheet.rows({ sheet: 'Customers', limit: 1000 })
        const known = customers.find((row) => row.values['email'] === event.payload.from)
        const mails = Number(known?.values['mails'] ?? 0) + 1
        const change: Change | null = known
          ? { id: known.id, values: { lastMail: event.payload.subject, mails } }
          : null
        return {
          reservations: [{ topic: 'mail', ids: [event.messageId] }],
          data: change,
          ui: { title: known ? `Note a mail of ${event.payload.name}` : `${event.payload.from} is no customer` },
        }
      },
      async mutate(prepared: Prepared<Change | null>, ctx) {
        if (prepared.data) await ctx.demo.sheet.update({ sheet: 'Customers', ...prepared.data })
      },
    },
  },
})
