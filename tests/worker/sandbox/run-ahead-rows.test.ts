import type { PhaseOutcome, PhaseRequest, Sandbox } from '#engine/ports/sandbox.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { afterAll, expect, test } from 'vitest'
import { openNodeEngine } from '../../support/node-engine.ts'
import { prepareNodeThreads } from '../../support/node-threads.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'
import { carryAll, deployCarriers } from '../../support/workloads.ts'

const wasm = await loadQuickjsWasm()
const threads = await prepareNodeThreads()
afterAll(threads.remove)

const EVENTS = 30

/** Keeps its state now and then, publishes for itself, and has a second consumer that comes between. */
const SOURCE = `export default defineWorkflow({
  name: 'busy',
  topics: { item: {}, done: {} },
  consumers: {
    carry: {
      subscribe: ['item'],
      publishes: ['item', 'done'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        console.log('prepare', state?.seen ?? 0, event?.messageId ?? 'nothing')
        if (!event) return { reservations: [] }
        return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: { ...event.payload, state } }
      },
      async mutate(prepared, ctx) {
        if (prepared.data.n % 3 > 0) await ctx.noop.send(prepared.data)
      },
      async next({ data }, mutation, ctx) {
        if (data.n === 5) await ctx.topics.publish('item', { messageId: 'e6', payload: { n: 600 } })
        if (data.n % 4 === 0) await ctx.topics.publish('done', { messageId: 'd' + data.n, payload: { n: data.n } })
        if (data.n % 5 > 0) return { seen: data.n, status: mutation.status }
      },
    },
    count: {
      subscribe: ['done'],
      async prepare(state, ctx) {
        const events = await ctx.topics.peek('done')
        if (events.length === 0) return { reservations: [] }
        return { reservations: [{ topic: 'done', ids: events.slice(0, 1).map(({ messageId }) => messageId) }] }
      },
      async next() { return {} },
    },
  },
})`

interface Asked {
  request: PhaseRequest
  outcome: PhaseOutcome
}

const carry = async (sandbox: Sandbox) => {
  const asked: Asked[] = []
  const runPhase = async (request: PhaseRequest): Promise<PhaseOutcome> => {
    const outcome = await sandbox.runPhase(request)
    asked.push({ request, outcome })
    return outcome
  }
  const { engine, database } = await openNodeEngine({ ...sandbox, runPhase })
  const deployed = await engine.deployWorkflow({ source: SOURCE })
  if (!deployed.ok) throw new Error(deployed.error.message)
  const { workflowId } = deployed.value
  await Promise.all(
    Array.from({ length: EVENTS }, (_each, n) =>
      engine.publishEvent(workflowId, 'item', { messageId: `e${n}`, payload: { n } }),
    ),
  )
  await engine.idle()
  engine.stop()
  const rows = [
    'SELECT topic_id, message_id, status, payload FROM events ORDER BY topic_id, message_id',
    'SELECT handler_name, state FROM handler_state ORDER BY handler_name',
    `SELECT handler_name, phase, status, input_state, prepare_result, mutation_outcome, output_state
      FROM handler_runs WHERE prepare_result NOT LIKE '%"reservations":[]%' ORDER BY handler_name, id`,
    'SELECT params, status FROM mutations ORDER BY id',
    `SELECT phase, level, message FROM logs WHERE message NOT LIKE '%nothing' ORDER BY id`,
  ].map((sql) => database.all(sql))
  return { rows, asked }
}

// What was run ahead is good for some milliseconds, and a busy machine may take them away.
test('events are carried to the same rows and logs, whether or not phases are run ahead', { retry: 3 }, async () => {
  const inTurn = await carry(await createSandbox({ wasm, compile: compileScript }))
  let phases = 0
  const pool = createSandboxPool({
    wasm,
    compile: compileScript,
    spawn: (listener) => {
      const thread = threads.spawn(listener)
      return {
        ...thread,
        post: (message) => {
          if (message.type === 'phase') phases += 1
          thread.post(message)
        },
      }
    },
  })
  const ahead = await carry(pool)
  pool.close()
  expect(ahead.rows).toEqual(inTurn.rows)
  expect(ahead.rows[0]?.filter(({ status }) => status === 'consumed').length).toBeGreaterThan(EVENTS)
  // Prepare, mutate and next, and only some of them had to be asked for.
  expect(phases).toBeLessThan(ahead.asked.length * 0.6)
})

test('a handler of which all is as expected is asked for several events at once', { retry: 3 }, async () => {
  let posted = 0
  const pool = createSandboxPool({
    wasm,
    compile: compileScript,
    spawn: (listener) => {
      const thread = threads.spawn(listener)
      return {
        ...thread,
        post: (message) => {
          if (message.type === 'phase') posted += 1
          thread.post(message)
        },
      }
    },
  })
  const { engine, database } = await openNodeEngine(pool)
  const deployed = await deployCarriers(engine, 1, 80)
  await carryAll(engine, deployed)
  await carryAll(engine, deployed)
  engine.stop()
  pool.close()
  const counts = database.get("SELECT count(*) AS events FROM events WHERE status = 'consumed'")
  expect(counts).toMatchObject({ events: 160 })
  expect(database.all('SELECT status, count(*) AS n FROM mutations GROUP BY status')).toEqual([
    { status: 'applied', n: 160 },
  ])
  // Three phases for each event.
  expect(posted).toBeLessThan((3 * 160) / 6)
})

test('a prepare that follows is asked for with what was said to follow', async () => {
  const { asked } = await carry(await createSandbox({ wasm, compile: compileScript }))
  const pairs = asked.flatMap(({ request, outcome }, index) => {
    const after = asked.slice(index + 1).find(({ request: { handler } }) => handler === request.handler)
    if (request.phase !== 'next' || outcome.kind !== 'returned' || after === undefined) return []
    return [{ foretold: outcome.value ?? request.then?.state, asked: after.request.args[0] }]
  })
  expect(pairs.length).toBeGreaterThan(EVENTS)
  expect(pairs.map(({ foretold }) => foretold)).toEqual(pairs.map((pair) => pair.asked))
})
