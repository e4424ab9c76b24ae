import { ok } from '#engine/model/result.ts'
import type { ToolMethod, Tools } from '#engine/ports/tools.ts'
import type { Engine } from '#engine/runtime/engine.ts'

/** An in-process mutation that does nothing: what is left of the time is the engine's own. */
const noop: ToolMethod = {
  namespace: 'noop',
  method: 'send',
  kind: 'mutation',
  title: 'Do nothing',
  parse: (args) => ok(args[0] ?? null),
  permissionsFor: () => [],
  call: () => Promise.resolve({ kind: 'ok', value: null }),
}

/** Beside the tools that a script sees in the application: their number is part of what a phase costs. */
export const withNoop = (tools: Tools): Tools => ({
  ...tools,
  find: (namespace, method) =>
    namespace === noop.namespace && method === noop.method ? noop : tools.find(namespace, method),
  list: () => [...tools.list(), noop],
})

/**
 * W1: "Run now" publishes as many events as its topic `order` says, and each is carried through prepare, mutate and next by a
 * handler run of its own, with every checkpoint.
 */
const carrySource = (eventsPerRun: number, name = 'carry'): string => `export default defineWorkflow({
  name: '${name}',
  topics: { item: {} },
  producers: {
    fill: {
      schedule: { interval: '1d' },
      publishes: ['item'],
      async handler(state, ctx) {
        const first = state?.published ?? -1
        if (first < 0) return { published: 0 }
        for (let n = first; n < first + ${eventsPerRun}; n += 1) {
          await ctx.topics.publish('item', { messageId: 'e' + n, payload: { n } })
        }
        return { published: first + ${eventsPerRun} }
      },
    },
  },
  consumers: {
    carry: {
      subscribe: ['item'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: { n: event.payload.n } }
      },
      async mutate(prepared, ctx) { await ctx.noop.send({ n: prepared.data.n }) },
      async next(prepared, mutation) { return { last: prepared.data.n, status: mutation.status } },
    },
  },
})`

export interface Deployed {
  workflowIds: string[]
  eventsEach: number
}

export const deployCarriers = async (engine: Engine, workflows: number, events: number): Promise<Deployed> => {
  const eventsEach = Math.ceil(events / workflows)
  const workflowIds: string[] = []
  for (let n = 0; n < workflows; n += 1) {
    const deployed = await engine.deployWorkflow({ source: carrySource(eventsEach, `carry-${n}`) })
    if (!deployed.ok) throw new Error(deployed.error.message)
    workflowIds.push(deployed.value.workflowId)
  }
  await engine.idle()
  return { workflowIds, eventsEach }
}

/** Milliseconds from "Run now" to everything carried and on disk. */
export const carryAll = async (engine: Engine, { workflowIds }: Deployed): Promise<number> => {
  const start = performance.now()
  const started = await Promise.all(workflowIds.map((id) => engine.runWorkflow(id)))
  for (const each of started) if (!each.ok) throw new Error(each.error.message)
  await engine.idle()
  return performance.now() - start
}
