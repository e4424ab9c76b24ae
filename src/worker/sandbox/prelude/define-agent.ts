/**
 * A function of the tools that returns `defineAgent`: the short form for an agent that does one thing. Its prepare is asked only
 * while the start event is there, and takes that event by itself unless prepare says which events it reserves.
 */
export const defineAgentSource = String.raw`(function (tools) {
const { apply, isObject } = tools

function prepareTask(agent) {
  const { prepare } = agent
  return async function (state, ctx) {
    const events = await ctx.topics.peek('task', { limit: 1 })
    if (events.length === 0) return { reservations: [], data: {} }
    const prepared = await apply(prepare, agent, [state, ctx])
    if (prepared !== undefined && (!isObject(prepared) || prepared.reservations !== undefined)) return prepared
    return { data: {}, ...prepared, reservations: [{ topic: 'task', ids: [events[0].messageId] }] }
  }
}

return (agent) => {
  if (!isObject(agent)) return agent
  const { prepare, mutate, next } = agent
  const task = { subscribe: ['task'], publishes: [] }
  if (prepare !== undefined) task.prepare = typeof prepare === 'function' ? prepareTask(agent) : prepare
  if (mutate !== undefined) task.mutate = mutate
  if (next !== undefined) task.next = next
  const { name = 'Agent', permissions = [] } = agent
  return { name, permissions, topics: { task: {} }, consumers: { task } }
}
})`
