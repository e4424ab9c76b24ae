import { defineWorkflow, type Prepared, type Topic } from 'holdfast'

interface Report {
  day: string
  mails: number
  money: number
  busiest: string
}

export default defineWorkflow({
  name: 'Weekly report',
  permissions: ['demo'],
  topics: { report: {} as Topic<Report> },

  producers: {
    // The day is the message id: however often this runs on one day, there is one report of it.
    addUp: {
      schedule: { cron: '0 8 * * 1' },
      publishes: ['report'],
      async handler(_state, ctx) {
        const mails = await ctx.demo.inbox.list({ limit: 100, withArchived: true })
        const countBySender = new Map<string, number>()
        for (const { name } of mails) countBySender.set(name, (countBySender.get(name) ?? 0) + 1)
        const [busiest] = [...countBySender].sort((a, b) => b[1] - a[1])
        const day = new Date(ctx.now()).toISOString().slice(0, 10)
        await ctx.topics.publish('report', {
          messageId: day,
          title: `Report of ${day}`,
          payload: {
            day,
            mails: mails.length,
            money: mails.reduce((sum, mail) => sum + (mail.amount ?? 0), 0),
            busiest: busiest?.[0] ?? 'nobody',
          },
        })
      },
    },
  },

  consumers: {
    file: {
      subscribe: ['report'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('report', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'report', ids: [event.messageId] }],
          data: event.payload,
          ui: { title: `File the report of ${event.payload.day}` },
        }
      },
      async mutate(prepared: Prepared<Report>, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Reports', values: { ...prepared.data } })
      },
    },
  },
})
