import { defineWorkflow, type FeedItem, type Prepared, type Topic } from 'holdfast'

const FEED = 'https://example.com/feed.xml'

export default defineWorkflow({
  name: 'Feed reader',
  permissions: ['demo', 'http:example.com'],
  topics: { item: {} as Topic<FeedItem> },

  producers: {
    fetchFeed: {
      schedule: { interval: '15m' },
      publishes: ['item'],
      async handler(_state, ctx) {
        const { body } = await ctx.http.get(FEED, { responseType: 'text' })
        const feed = await ctx.parse.feed(body)
        // An item that was seen before has the same id, and publishing it again changes nothing.
        for (const item of feed.items) {
          await ctx.topics.publish('item', { messageId: item.id, title: item.title, payload: item })
        }
      },
    },
  },

  consumers: {
    post: {
      subscribe: ['item'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        if (!event) return { reservations: [] }
        return {
          reservations: [{ topic: 'item', ids: [event.messageId] }],
          data: { text: `${event.payload.title}\n${event.payload.link}` },
          ui: { title: `Post "${event.payload.title}"` },
        }
      },
      async mutate(prepared: Prepared<{ text: string }>, ctx) {
        await ctx.demo.chat.send({ channel: 'news', text: prepared.data.text })
      },
    },
  },
})
