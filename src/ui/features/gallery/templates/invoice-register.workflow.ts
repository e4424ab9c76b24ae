import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

const DAYS_TO_PAY = 14

interface Invoice {
  mailId: string
  from: string
  amount: number
  dueOn: string
}

export default defineWorkflow({
  name: 'Invoice register',
  permissions: ['demo'],
  topics: {
    'invoice.received': {} as Topic<DemoMail>,
    'invoice.registered': {} as Topic<Invoice>,
  },

  producers: {
    findInvoices: {
      schedule: { interval: '1m' },
      publishes: ['invoice.received'],
      async handler(state: { after?: string } | null, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after, limit: 100, withArchived: true })
        for (const mail of mails.filter((candidate) => candidate.topic === 'invoice')) {
          await ctx.topics.publish('invoice.received', { messageId: mail.id, title: mail.subject, payload: mail })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  consumers: {
    register: {
      subscribe: ['invoice.received'],
      publishes: ['invoice.registered'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('invoice.received', { limit: 1 })
        if (!event) return { reservations: [] }
        const { id, from, amount, receivedAt } = event.payload
        const due = new Date(Date.parse(receivedAt) + DAYS_TO_PAY * 24 * 3600_000)
        const invoice: Invoice = { mailId: id, from, amount: amount ?? 0, dueOn: due.toISOString().slice(0, 10) }
        return {
          reservations: [{ topic: 'invoice.received', ids: [event.messageId] }],
          data: invoice,
          ui: { title: `Register ${invoice.amount.toFixed(2)} € from ${from}` },
        }
      },
      async mutate(prepared: Prepared<Invoice>, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Invoices', values: { ...prepared.data, paid: false } })
      },
      async next(prepared: Prepared<Invoice>, mutation, ctx) {
        if (mutation.status !== 'applied') return
        await ctx.topics.publish('invoice.registered', { messageId: prepared.data.mailId, payload: prepared.data })
      },
    },

    // Keeps a running total in its own state and says it once per invoice.
    announce: {
      subscribe: ['invoice.registered'],
      async prepare(state: { total: number } | null, ctx) {
        const [event] = await ctx.topics.peek('invoice.registered', { limit: 1 })
        if (!event) return { reservations: [] }
        const total = (state?.total ?? 0) + event.payload.amount
        return {
          reservations: [{ topic: 'invoice.registered', ids: [event.messageId] }],
          data: {
            total,
            text: `Due on ${event.payload.dueOn}: ${event.payload.amount.toFixed(2)} €. Open in all: ${total.toFixed(2)} €`,
          },
          ui: { title: 'Tell #finance' },
        }
      },
      async mutate(prepared: Prepared<{ text: string }>, ctx) {
        await ctx.demo.chat.send({ channel: 'finance', text: prepared.data.text })
      },
      next(prepared: Prepared<{ total: number }>) {
        return { total: prepared.data.total }
      },
    },
  },
})
