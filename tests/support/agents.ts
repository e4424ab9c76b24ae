import type { AgentRequest, SessionRequest } from '#engine/model/session-request.ts'

/** Scripts of agents that tests share. Each is one agent that does one thing. */

/** Sends its task to the box and hands in what came back. */
export const sendTask = `export default defineAgent({
  async prepare(state, ctx) { return { data: { task: ctx.session.task, handoff: ctx.session.handoff } } },
  async mutate(prepared, ctx) { await ctx.box.send(prepared.data.task) },
  async next(prepared, mutation, ctx) { await ctx.session.output({ did: prepared.data.task, got: prepared.data.handoff }) },
})`

/** Only thinks: nothing outside is touched. */
export const thinkTask = `export default defineAgent({
  async prepare(state, ctx) { return { data: { handoff: ctx.session.handoff } } },
  async next(prepared, mutation, ctx) { await ctx.session.output({ did: ctx.session.task, got: prepared.data.handoff }) },
})`

export const failTask = `export default defineAgent({
  async prepare(state, ctx) { throw new Error('I cannot do ' + ctx.session.task) },
})`

export const agent = (key: string, more: Partial<AgentRequest> = {}): AgentRequest => ({
  key,
  role: 'worker',
  task: `do ${key}`,
  source: thinkTask,
  ...more,
})

export const sessionOf = (agents: AgentRequest[], more: Partial<SessionRequest> = {}): SessionRequest => ({
  objective: 'Get it done',
  strategy: 'adaptive',
  agents,
  ...more,
})
