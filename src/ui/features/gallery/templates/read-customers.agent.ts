import { defineAgent } from 'holdfast'

/** Reads the sheet of customers and hands them over. */
export default defineAgent({
  name: 'Read the customers',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const rows = await ctx.demo.sheet.rows({ sheet: 'Customers', limit: 100 })
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: rows.map((row) => String(row.values['name'])),
      ui: { title: `Read ${rows.length} customers` },
    }
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.output({ customers: prepared.data })
  },
})
