// Effect Workflow on SQLite, with a single runner, as its documentation has it for one process, and all of its own defaults. Its driver
// turns the write-ahead log on and leaves `synchronous` at FULL: every commit is synced.
import { layer as cryptoLayer } from '@effect/platform-node-shared/NodeCrypto'
import { SqliteClient } from '@effect/sql-sqlite-node'
import { Effect, Layer, ManagedRuntime, Schema, Semaphore } from 'effect'
import { ClusterWorkflowEngine, SingleRunner } from 'effect/unstable/cluster'
import { Activity, DurableClock, Workflow } from 'effect/unstable/workflow'
import { leaveTrace, servePeer } from './serve-peer.mjs'

/** @param {string} name @param {any} success @param {() => unknown} make */
const step = (name, success, make) => Activity.make({ name, success, execute: Effect.sync(make) })

/** @param {string} name */
const defineCarry = (name) =>
  Workflow.make(name, {
    payload: { n: Schema.Number },
    success: Schema.Struct({ last: Schema.Number }),
    idempotencyKey: ({ n }) => String(n),
  })

/** @param {{ n: number }} payload */
const carryOut = ({ n }) =>
  Effect.gen(function* () {
    const prepared = yield* step('prepare', Schema.Struct({ n: Schema.Number }), () => ({
      n: leaveTrace('prepare', n),
    }))
    yield* step('mutate', Schema.Number, () => leaveTrace('mutate', prepared.n))
    return yield* step('next', Schema.Struct({ last: Schema.Number }), () => ({ last: leaveTrace('next', prepared.n) }))
  })

/** @param {{ ms: number }} payload */
const napFor = ({ ms }) =>
  Effect.gen(function* () {
    const due = yield* step('due', Schema.Number, () => Date.now() + ms)
    // By its default a minute or less is a step that waits in memory; what is longer it looks for every ten seconds.
    yield* DurableClock.sleep({ name: 'nap', duration: Math.max(1, due - Date.now()) })
    return yield* step('started', Schema.Number, () => Date.now() - due)
  })

const carry = defineCarry('carry')
const carryEight = defineCarry('carryEight')
const napping = Workflow.make('nap', {
  payload: { id: Schema.Number, ms: Schema.Number },
  success: Schema.Number,
  idempotencyKey: ({ id }) => String(id),
})

// It runs everything at once and has no setting for fewer: the workflow itself waits for one of eight places.
const places = Semaphore.makeUnsafe(8)
const workflows = Layer.mergeAll(
  carry.toLayer(carryOut),
  carryEight.toLayer((payload) => places.withPermits(1)(carryOut(payload))),
  napping.toLayer(napFor),
)
const engine = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(SingleRunner.layer()),
  Layer.provide([SqliteClient.layer({ filename: `${process.env.PEER_DATA}/effect.db` }), cryptoLayer]),
)
const runtime = ManagedRuntime.make(workflows.pipe(Layer.provideMerge(engine)))
// From here on it works, also on what was left behind.
await runtime.context()
let naps = Date.now()

servePeer({
  runOne: (n) => runtime.runPromise(carry.execute({ n })),
  accept: (ns, onAccepted) =>
    Promise.all(
      ns.map(async (n) => {
        // Comes back when the request is in the database.
        await runtime.runPromise(carryEight.execute({ n }, { discard: true }))
        onAccepted(n)
      }),
    ),
  nap: (ms) => runtime.runPromise(napping.execute({ id: (naps += 1), ms })),
  close: () => runtime.dispose(),
})
