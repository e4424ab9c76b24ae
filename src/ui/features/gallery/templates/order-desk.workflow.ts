import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

interface Order {
  id: string
  name: string
  amount: number
}

export default defineWorkflow({
  name: 'Order desk',
  permissions: ['demo'],
  topics: {
    'order.placed': {} as Topic<Order>,
    'order.booked': {} as Topic<Order>,
    'order.confirmed': {} as Topic<Order>,
  },

  producers: {
    readOrders: {
      schedule: { interval: '30s' },
      publishes: ['order.placed'],
      async handler(state: { after?: string } | null, ctx) {
        const mails: DemoMail[] = await ctx.demo.inbox.list({ after: state?.after, limit: 100, withArchived: true })
        for (const { id, name, subject, topic, amount } of mails) {
          if (topic !== 'order') continue
          await ctx.topics.publish('order.placed', {
            messageId: id,
            title: subject,
            payload: { id, name, amount: amount ?? 0 },
          })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  // Three steps, three handlers: whatever happens in between, an order stands in exactly one of them.
  consumers: {
    book: {
      subscribe: ['order.placed'],
      publishes: ['order.booked'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('order.placed', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'order.placed', ids: [event.messageId] }],
          data: event.payload,
          ui: { title: `Book the order of ${event.payload.name}` },
        }
      },
      async mutate(prepared: Prepared<Order>, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Orders', values: { ...prepared.data, status: 'booked' } })
      },
      async next(prepared: Prepared<Order>, mutation, ctx) {
        if (mutation.status === 'applied') {
          await ctx.topics.publish('order.booked', { messageId: prepared.data.id, payload: prepared.data })
        }
      },
    },

    confirm: {
      subscribe: ['order.booked'],
      publishes: ['order.confirmed'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('order.booked', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'order.booked', ids: [event.messageId] }],
          data: event.payload,
          ui: { title: `Confirm to ${event.payload.name}` },
        }
      },
      async mutate(prepared: Prepared<Order>, ctx) {
        const { id, name, amount } = prepared.data
        await ctx.demo.inbox.reply({ id, text: `Dear ${name}, your order over ${amount.toFixed(2)} € is on its way.` })
      },
      async next(prepared: Prepared<Order>, mutation, ctx) {
        if (mutation.status === 'applied') {
          await ctx.topics.publish('order.confirmed', { messageId: prepared.data.id, payload: prepared.data })
        }
      },
    },

    dispatch: {
      subscribe: ['order.confirmed'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('order.confirmed', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'order.confirmed', ids: [event.messageId] }],
          data: event.payload,
          ui: { title: `Tell the warehouse about ${event.payload.id}` },
        }
      },
      async mutate(prepared: Prepared<Order>, ctx) {
        await ctx.demo.chat.send({ channel: 'warehouse', text: `Pack ${prepared.data.id} for ${prepared.data.name}` })
      },
    },
  },
})
