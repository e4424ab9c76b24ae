/** Scripts that the browser tests deploy. Each works on the demo world, so that nothing leaves the page. */

interface Triage {
  name?: string
  /** The sheet that rows are added to; a name of its own keeps workflows apart. */
  sheet?: string
  interval?: string
}

/** Reads mails, adds a row for each, and tells about each row. */
export const triageScript = ({ name = 'Inbox triage', sheet = 'People', interval = '5m' }: Triage = {}): string => `
export default defineWorkflow({
  name: '${name}',
  permissions: ['demo'],
  topics: { mail: {}, row: {} },
  producers: {
    poll: {
      schedule: { interval: '${interval}' },
      publishes: ['mail'],
      async handler(state, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after })
        ctx.log.info(\`\${mails.length} new mails\`)
        for (const mail of mails) await ctx.topics.publish('mail', { messageId: mail.id, title: mail.subject, payload: mail })
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },
  consumers: {
    keep: {
      subscribe: ['mail'],
      publishes: ['row'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('mail', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return {
          reservations: [{ topic: 'mail', ids: [event.messageId] }],
          data: { from: event.payload.from },
          ui: { title: \`Add a row for \${event.payload.from}\` },
        }
      },
      async mutate(prepared, ctx) {
        await ctx.demo.sheet.append({ sheet: '${sheet}', values: prepared.data })
      },
      async next(prepared, mutation, ctx) {
        await ctx.topics.publish('row', { messageId: prepared.reservations[0].ids[0], payload: mutation })
      },
    },
  },
})`

/** Fails at line 19 unless it is mended. */
export const invoiceScript = ({ isMended = false } = {}): string => `export default defineWorkflow({
  name: 'Invoice check',
  permissions: ['demo'],
  topics: { invoice: {} },
  producers: {
    read: {
      schedule: { cron: '*/15 * * * *' },
      publishes: ['invoice'],
      async handler(state, ctx) {
        await ctx.topics.publish('invoice', { messageId: 'i1', title: 'Invoice 1', payload: { total: 12 } })
      },
    },
  },
  consumers: {
    check: {
      subscribe: ['invoice'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('invoice', { limit: 1 })
        const amount = event?.payload.${isMended ? 'total' : 'lines.amount'}
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'invoice', ids: [event.messageId] }], data: { amount } }
      },
    },
  },
})`

/** An agent that adds a row for its task, and hands on what it was handed. */
export const workerScript = `
export default defineAgent({
  permissions: ['demo'],
  async prepare(state, ctx) {
    const [event] = await ctx.topics.peek('task', { limit: 1 })
    if (!event) return { reservations: [], data: {} }
    return { reservations: [{ topic: 'task', ids: [event.messageId] }], data: { task: ctx.session.task, got: ctx.session.handoff } }
  },
  async mutate(prepared, ctx) { await ctx.demo.sheet.append({ sheet: 'team', values: { task: prepared.data.task } }) },
  async next(prepared, mutation, ctx) { await ctx.session.output({ done: prepared.data.task, got: prepared.data.got }) },
})`
