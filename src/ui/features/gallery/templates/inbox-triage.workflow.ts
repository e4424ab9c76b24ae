import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

export default defineWorkflow({
  name: 'Inbox triage',
  permissions: ['demo'],
  topics: {
    'mail.received': {} as Topic<DemoMail>,
    'row.written': {} as Topic<{ mailId: string; rowId: string }>,
  },

  producers: {
    // Looks at the inbox and publishes what is new. The cursor is its state: it survives a crash.
    readInbox: {
      schedule: { interval: '10s' },
      publishes: ['mail.received'],
      async handler(state: { after?: string } | null, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after, limit: 10 })
        for (const mail of mails) {
          await ctx.topics.publish('mail.received', { messageId: mail.id, title: mail.subject, payload: mail })
        }
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },

  consumers: {
    // One mail, one row: the row is the one thing this handler does to the outside world.
    writeRow: {
      subscribe: ['mail.received'],
      publishes: ['row.written'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('mail.received', { limit: 1 })
        if (!event) return { reservations: [] }
        const { from, topic, subject, amount } = event.payload
        return {
          reservations: [{ topic: 'mail.received', ids: [event.messageId] }],
          data: { from, topic, subject, amount },
          ui: { title: `Write a row for "${subject}"` },
        }
      },
      async mutate(prepared, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Triage', values: prepared.data })
      },
      async next(prepared, mutation, ctx) {
        const mailId = prepared.reservations[0]?.ids[0]
        if (mutation.status !== 'applied' || !mailId) return
        await ctx.topics.publish('row.written', { messageId: mailId, payload: { mailId, rowId: mutation.result.id } })
      },
    },

    // Only a mail whose row is known to be there leaves the inbox.
    archiveMail: {
      subscribe: ['row.written'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('row.written', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'row.written', ids: [event.messageId] }],
          data: { id: event.payload.mailId },
          ui: { title: `Archive ${event.payload.mailId}` },
        }
      },
      async mutate(prepared: Prepared<{ id: string }>, ctx) {
        await ctx.demo.inbox.archive(prepared.data)
      },
    },
  },
})
