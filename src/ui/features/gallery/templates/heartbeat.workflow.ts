import { defineWorkflow } from 'holdfast'

export default defineWorkflow({
  name: 'Heartbeat',
  permissions: ['demo'],
  topics: { beat: {} },

  producers: {
    tick: {
      schedule: { interval: '1m' },
      publishes: ['beat'],
      async handler(state: { count: number } | null, ctx) {
        const count = (state?.count ?? 0) + 1
        await ctx.topics.publish('beat', { messageId: `beat-${count}`, title: `Beat ${count}`, payload: { count } })
        return { count }
      },
    },
  },

  consumers: {
    sayIt: {
      subscribe: ['beat'],
      async prepare(_state, ctx) {
        const [beat] = await ctx.topics.peek('beat', { limit: 1 })
        if (!beat) return { reservations: [] }
        return {
          reservations: [{ topic: 'beat', ids: [beat.messageId] }],
          data: { text: `Still here, beat ${beat.payload.count}` },
          ui: { title: `Say beat ${beat.payload.count}` },
        }
      },
      async mutate(prepared, ctx) {
        await ctx.demo.chat.send({ channel: 'heartbeat', text: prepared.data.text })
      },
    },
  },
})
