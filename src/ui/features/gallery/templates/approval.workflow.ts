import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

const FREE_UP_TO = 500

export default defineWorkflow({
  name: 'Approval',
  permissions: ['demo'],
  topics: {
    order: {} as Topic<DemoMail>,
    // Nothing publishes here: you do, by hand, with the mail's id as the message id.
    approved: {} as Topic<null>,
    'order.cleared': {} as Topic<DemoMail>,
  },

  producers: {
    readOrders: {
      schedule: { interval: '1m' },
      publishes: ['order'],
      async handler(state: { after?: string } | null, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after, limit: 100, withArchived: true })
        for (const mail of mails.filter(({ topic }) => topic === 'order' || topic === 'invoice')) {
          await ctx.topics.publish('order', { messageId: mail.id, title: mail.subject, payload: mail })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  consumers: {
    // Small sums pass at once; a large one waits until its approval is there and takes both events together.
    clear: {
      subscribe: ['order', 'approved'],
      publishes: ['order.cleared'],
      async prepare(_state, ctx) {
        const orders = await ctx.topics.peek('order')
        const approvals = new Set((await ctx.topics.peek('approved')).map((event) => event.messageId))
        const isSmall = (mail: DemoMail) => (mail.amount ?? 0) <= FREE_UP_TO
        const order = orders.find(({ messageId, payload }) => isSmall(payload) || approvals.has(messageId))
        if (!order) return { reservations: [] }
        const ids = [order.messageId]
        return {
          reservations: approvals.has(order.messageId)
            ? [
                { topic: 'order', ids },
                { topic: 'approved', ids },
              ]
            : [{ topic: 'order', ids }],
          data: order.payload,
          ui: { title: `Clear ${order.payload.subject}` },
        }
      },
      async next(prepared: Prepared<DemoMail>, _mutation, ctx) {
        const mail = prepared.data
        await ctx.topics.publish('order.cleared', { messageId: mail.id, title: mail.subject, payload: mail })
      },
    },

    pay: {
      subscribe: ['order.cleared'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('order.cleared', { limit: 1 })
        if (!event) return { reservations: [] }
        const { name, amount } = event.payload
        return {
          reservations: [{ topic: 'order.cleared', ids: [event.messageId] }],
          data: { to: name, amount },
          ui: { title: `Pay ${name}` },
        }
      },
      async mutate(prepared, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Payments', values: prepared.data })
      },
    },
  },
})
