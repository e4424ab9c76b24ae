import { defineAgent } from 'holdfast'

/** Adds the customer of the task, { name, email }, to the sheet of customers, unless it is there already. */
export default defineAgent({
  name: 'Enrol the customer',
  permissions: ['demo'],
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const { name, email } = ctx.session.task as { name: string; email: string }
    const rows = await ctx.demo.sheet.rows({ sheet: 'Customers', limit: 1000 })
    const isKnown = rows.some((row) => row.values['email'] === email)
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: { name, email, isKnown },
      ui: { title: isKnown ? `${name} is a customer already` : `Enrol ${name}` },
    }
  },
  async mutate(prepared, ctx) {
    const { name, email, isKnown } = prepared.data
    if (!isKnown) await ctx.demo.sheet.append({ sheet: 'Customers', values: { name, email } })
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.context.set('customer', prepared.data)
    await ctx.session.output(prepared.data)
  },
})
