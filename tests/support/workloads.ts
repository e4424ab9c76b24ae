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
const carrySource = (eventsPerRun: number, name: string, mutation: string): string => `export default defineWorkflow({
  name: '${name}',
  permissions: ['demo'],
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
      async mutate(prepared, ctx) { await ctx.${mutation} },
      async next(prepared, mutation) { return { last: prepared.data.n, status: mutation.status } },
    },
  },
})`

export interface Deployed {
  workflowIds: string[]
  eventsEach: number
}

const DO_NOTHING = 'noop.send({ n: prepared.data.n })'
/** In a world outside of the engine, where what is done twice can be seen twice. */
export const leaveATrace = (workflow: number): string =>
  `demo.sheet.append({ sheet: 'traces', values: { n: '${workflow}.' + prepared.data.n } })`

export const deployCarriers = async (
  engine: Engine,
  workflows: number,
  events: number,
  mutationOf: (workflow: number) => string = () => DO_NOTHING,
): Promise<Deployed> => {
  const eventsEach = Math.ceil(events / workflows)
  const workflowIds: string[] = []
  for (let n = 0; n < workflows; n += 1) {
    const deployed = await engine.deployWorkflow({ source: carrySource(eventsEach, `carry-${n}`, mutationOf(n)) })
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

/** W2: milliseconds from publishing one event to its commit, each with the engine idle before. */
export const latencies = async (
  engine: Engine,
  events: number,
  /** Resolves when the event is consumed, and that is on the disk. */
  committed: (messageId: string) => Promise<void>,
): Promise<number[]> => {
  const { workflowIds } = await deployCarriers(engine, 1, 1)
  const [workflowId = ''] = workflowIds
  const times: number[] = []
  for (let n = 0; n < events; n += 1) {
    const messageId = `m${n}`
    const start = performance.now()
    const isCommitted = committed(messageId)
    const published = await engine.publishEvent(workflowId, 'item', { messageId, payload: { n } })
    if (!published.ok) throw new Error(published.error.message)
    await isCommitted
    times.push(performance.now() - start)
    // The consumer looks once more whether there is another, and finds none.
    await engine.whenQuiet()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return times
}

const timedSource = (n: number): string => `export default defineWorkflow({
  name: 'timed-${n}',
  topics: {},
  producers: { tick: { schedule: { interval: '10s' }, async handler() {} } },
})`

/** Producers that are due every ten seconds, spread over them, so that they do not wait for each other. */
export const deployTimed = async (engine: Engine, workflows: number): Promise<void> => {
  for (let n = 0; n < workflows; n += 1) {
    await engine.deployWorkflow({ source: timedSource(n) })
    await new Promise((resolve) => setTimeout(resolve, 10_000 / workflows))
  }
}

/** W3: milliseconds between the time a producer was due at and its start, for all beats since then. */
export const wakeDelays = (rows: RowsOf, since = 0): number[] => {
  const schedules = rows(`SELECT workflow_id, next_run_at FROM producer_schedules WHERE producer_name = 'tick'`)
  return schedules.flatMap(({ workflow_id: id, next_run_at: next }) => {
    const starts = rows(
      `SELECT start_timestamp AS at FROM handler_runs WHERE workflow_id = '${String(id)}' ORDER BY id DESC`,
    )
    // The first run was due when it was deployed, and had a script to compile.
    return starts
      .slice(0, -1)
      .map(({ at }, n) => ({ at: Number(at), late: Number(at) - (Number(next) - 10_000 * (n + 1)) }))
      .filter(({ at }) => at >= since)
      .map(({ late }) => late)
  })
}

type RowsOf = (sql: string) => Record<string, unknown>[]
