import { defineWorkflow, type DemoMail, type Prepared, type Topic } from 'holdfast'

const ENOUGH = 5
const LONGEST_WAIT_MS = 10 * 60_000

export default defineWorkflow({
  name: 'Digest',
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
    // Waits until five mails are there, or until the oldest has waited for ten minutes; then sends them as one.
    sendDigest: {
      subscribe: ['mail'],
      async prepare(_state, ctx) {
        const events = await ctx.topics.peek('mail', { limit: 50 })
        const [oldest] = events
        if (!oldest) return { reservations: [] }
        const latest = oldest.createdAt + LONGEST_WAIT_MS
        if (events.length < ENOUGH && ctx.now() < latest) {
          return { reservations: [], wakeAt: new Date(latest).toISOString() }
        }
        const lines = events.map(({ payload }) => `• ${payload.name}: ${payload.subject}`)
        return {
          reservations: [{ topic: 'mail', ids: events.map((event) => event.messageId) }],
          data: { text: [`${events.length} new mails`, ...lines].join('\n') },
          ui: { title: `Send a digest of ${events.length} mails` },
        }
      },
      async mutate(prepared: Prepared<{ text: string }>, ctx) {
        await ctx.demo.chat.send({ channel: 'digest', text: prepared.data.text })
      },
    },
  },
})
