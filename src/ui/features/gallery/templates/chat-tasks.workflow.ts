import { defineWorkflow, type DemoMessage, type Prepared, type Topic } from 'holdfast'

export default defineWorkflow({
  name: 'Tasks from the chat',
  permissions: ['demo'],
  topics: { task: {} as Topic<DemoMessage> },

  producers: {
    listen: {
      schedule: { interval: '30s' },
      publishes: ['task'],
      async handler(state: { seen: string } | null, ctx) {
        const messages = await ctx.demo.chat.messages({ channel: 'general', limit: 100 })
        const fresh = messages.filter((message) => message.sentAt > (state?.seen ?? ''))
        for (const message of fresh.filter(({ text }) => text.endsWith('?'))) {
          await ctx.topics.publish('task', { messageId: message.id, title: message.text, payload: message })
        }
        return { seen: fresh.at(-1)?.sentAt ?? state?.seen ?? '' }
      },
    },
  },

  consumers: {
    addTask: {
      subscribe: ['task'],
      async prepare(_state, ctx) {
        const [event] = await ctx.topics.peek('task', { limit: 1 })
        if (!event) return { reservations: [] }
        const { from, text, sentAt } = event.payload
        return {
          reservations: [{ topic: 'task', ids: [event.messageId] }],
          data: { asker: from, task: text, askedAt: sentAt, done: false },
          ui: { title: `Add "${text}"` },
        }
      },
      async mutate(prepared: Prepared<Record<string, string | boolean>>, ctx) {
        await ctx.demo.sheet.append({ sheet: 'Tasks', values: prepared.data })
      },
    },
  },
})
