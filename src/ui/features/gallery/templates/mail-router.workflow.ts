import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

export default defineWorkflow({
  name: 'Mail router',
  permissions: ['demo'],
  topics: {
    mail: {} as Topic<DemoMail>,
    money: {} as Topic<DemoMail>,
    support: {} as Topic<DemoMail>,
    rest: {} as Topic<DemoMail>,
  },

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
    // Decides and publishes; it changes nothing outside, so it needs no mutate. Takes ten at a time.
    sort: {
      subscribe: ['mail'],
      publishes: ['money', 'support', 'rest'],
      async prepare(_state, ctx) {
        const events = await ctx.topics.peek('mail', { limit: 10 })
        return {
          reservations: events.length === 0 ? [] : [{ topic: 'mail', ids: events.map((event) => event.messageId) }],
          data: events.map((event) => event.payload),
          ui: { title: `Sort ${events.length} mails` },
        }
      },
      async next(prepared: Prepared<DemoMail[]>, _mutation, ctx) {
        for (const mail of prepared.data) {
          const event = { messageId: mail.id, title: mail.subject, payload: mail }
          if (mail.amount !== null) await ctx.topics.publish('money', event)
          else if (mail.topic === 'question' || mail.topic === 'problem') await ctx.topics.publish('support', event)
          else await ctx.topics.publish('rest', event)
        }
      },
    },

    bookMoney: {
      subscribe: ['money'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('money', { limit: 1 })
        if (!event) return { reservations: [] }
        const { from, subject, amount } = event.payload
        return { reservations: [{ topic: 'money', ids: [event.messageId] }], data: { from, subject, amount } }
      },
      async mutate(prepared, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Money', values: prepared.data })
      },
    },

    askSupport: {
      subscribe: ['support'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('support', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'support', ids: [event.messageId] }],
          data: { text: `${event.payload.name} asks: ${event.payload.subject}` },
        }
      },
      async mutate(prepared: Prepared<{ text: string }>, ctx) {
        await ctx.demo.chat.send({ channel: 'support', text: prepared.data.text })
      },
    },

    tidyUp: {
      subscribe: ['rest'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('rest', { limit: 1 })
        if (!event) return { reservations: [] }
        return { reservations: [{ topic: 'rest', ids: [event.messageId] }], data: { id: event.payload.id } }
      },
      async mutate(prepared: Prepared<{ id: string }>, ctx) {
        await ctx.demo.inbox.archive(prepared.data)
      },
    },
  },
})
