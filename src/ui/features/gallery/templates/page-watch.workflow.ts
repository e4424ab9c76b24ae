import { defineWorkflow, type Prepared, type Topic } from 'holdfast'

const PAGE = 'https://example.com/'

interface Change {
  at: string
  title: string
  characters: number
}

export default defineWorkflow({
  name: 'Page watch',
  permissions: ['demo', 'http:example.com'],
  topics: { changed: {} as Topic<Change> },

  producers: {
    look: {
      schedule: { interval: '5m' },
      publishes: ['changed'],
      async handler(state: { text: string } | null, ctx) {
        const { body } = await ctx.http.get(PAGE, { responseType: 'text' })
        const { title, text } = await ctx.parse.html(body)
        if (text === state?.text) return state
        const at = new Date(ctx.now()).toISOString()
        await ctx.topics.publish('changed', { messageId: at, title, payload: { at, title, characters: text.length } })
        return { text }
      },
    },
  },

  consumers: {
    note: {
      subscribe: ['changed'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('changed', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'changed', ids: [event.messageId] }],
          data: event.payload,
          ui: { title: `Note the change of "${event.payload.title}"` },
        }
      },
      async mutate(prepared: Prepared<Change>, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Changes', values: { ...prepared.data } })
      },
    },
  },
})
