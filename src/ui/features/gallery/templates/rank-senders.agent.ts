import { defineAgent } from 'holdfast'

interface Mail {
  name: string
  amount: number | null
}

/** Ranks the senders of the mails handed over, by money ({ by: 'money' }) or by number. */
export default defineAgent({
  name: 'Rank the senders',
  async prepare(_state, ctx) {
    const [start] = await ctx.topics.peek('task', { limit: 1 })
    if (!start) return { reservations: [] }
    const by = ctx.session.task?.by === 'money' ? 'money' : 'number'
    const mails: Mail[] = Object.values(ctx.session.handoff).flatMap((output) => output?.mails ?? [])
    const scores = new Map<string, number>()
    for (const { name, amount } of mails) {
      scores.set(name, (scores.get(name) ?? 0) + (by === 'money' ? (amount ?? 0) : 1))
    }
    const ranking = [...scores].sort((a, b) => b[1] - a[1]).slice(0, 3)
    return {
      reservations: [{ topic: 'task', ids: [start.messageId] }],
      data: { by, ranking: ranking.map(([name, score]) => ({ name, score })) },
      ui: { title: `Rank ${scores.size} senders by ${by}` },
    }
  },
  async next(prepared, _mutation, ctx) {
    await ctx.session.output(prepared.data)
  },
})
