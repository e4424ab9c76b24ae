import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventStatus } from '#engine/model/event.ts'
import type { Store } from '#engine/ports/store.ts'
import { buildHandlerRun, buildPublication, buildScriptRun, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

const RUNS = ['hr_1', 'hr_2', 'hr_3']

interface Known {
  id: string
  status: EventStatus
  holder: string | null
  payload: string
}
/** What the port promises, said once more as plainly as possible: events by message id. */
type Model = Map<string, Known>

const messageId = fc.integer({ min: 0, max: 7 }).map((n) => `m${n}`)
const run = fc.constantFrom(...RUNS)
const action = fc.oneof(
  fc.record({ do: fc.constant('publish' as const), messageId, payload: fc.nat(99).map(String) }),
  fc.record({ do: fc.constant('reserve' as const), messageIds: fc.uniqueArray(messageId, { minLength: 1 }), run }),
  fc.record({ do: fc.constant('release' as const), run }),
  fc.record({ do: fc.constant('settle' as const), run, as: fc.constantFrom('consumed' as const, 'skipped' as const) }),
  fc.record({ do: fc.constant('transfer' as const), run, to: run }),
  fc.record({ do: fc.constant('skip' as const), messageIds: fc.uniqueArray(messageId) }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

const heldBy = (model: Model, holder: string) => [...model.values()].filter((event) => event.holder === holder)
const idsOf = (model: Model, messageIds: string[]) => messageIds.map((id) => model.get(id)?.id ?? `evt_none_${id}`)

function publish(
  store: Store,
  model: Model,
  { messageId, payload }: Extract<Action, { do: 'publish' }>,
  n: number,
): void {
  const id = `evt_${String(n).padStart(4, '0')}`
  const known = model.get(messageId)
  const effect = store.transaction((tx) => tx.events.publish(buildPublication({ id, messageId, payload })))
  expect(effect).toBe(known ? (known.status === 'pending' ? 'updated' : 'ignored') : 'inserted')
  if (!known) model.set(messageId, { id, status: 'pending', holder: null, payload })
  else if (known.status === 'pending') known.payload = payload
}

function reserve(store: Store, model: Model, { messageIds, run }: Extract<Action, { do: 'reserve' }>): void {
  const wanted = messageIds.map((id) => model.get(id))
  const attempt = () => store.transaction((tx) => tx.events.reserve(idsOf(model, messageIds), run))
  if (!wanted.every((event) => event?.status === 'pending')) expect(attempt).toThrow(/pending/)
  else {
    attempt()
    for (const event of wanted) if (event) Object.assign(event, { status: 'reserved', holder: run })
  }
}

function perform(store: Store, model: Model, action: Action, n: number): void {
  if (action.do === 'publish') publish(store, model, action, n)
  else if (action.do === 'reserve') reserve(store, model, action)
  else if (action.do === 'release') {
    const topics = store.transaction((tx) => tx.events.releaseReserved(action.run))
    expect(topics).toEqual(heldBy(model, action.run).length > 0 ? ['mail'] : [])
    for (const event of heldBy(model, action.run)) Object.assign(event, { status: 'pending', holder: null })
  } else if (action.do === 'settle') {
    store.transaction((tx) => tx.events.settleReserved(action.run, action.as))
    for (const event of heldBy(model, action.run)) Object.assign(event, { status: action.as, holder: null })
  } else if (action.do === 'transfer') {
    store.transaction((tx) => tx.events.transferReserved(action.run, action.to))
    for (const event of heldBy(model, action.run)) event.holder = action.to
  } else {
    const pending = action.messageIds.flatMap((id) => model.get(id) ?? []).filter(({ status }) => status === 'pending')
    expect(store.transaction((tx) => tx.events.skipPending(idsOf(model, action.messageIds)))).toBe(pending.length)
    for (const event of pending) event.status = 'skipped'
  }
}

function compare(store: Store, model: Model): void {
  const pending = [...model.values()].filter(({ status }) => status === 'pending').map(({ id }) => id)
  expect(store.events.peek('wf_1', 'mail', 100).map(({ id }) => id)).toEqual(pending.sort())
  const counted = store.events.pendingByTopic(['wf_1']).map(({ pending, oldestEventId }) => [pending, oldestEventId])
  expect(counted).toEqual(pending.length > 0 ? [[pending.length, pending[0]]] : [])
  const stored = store.events.getByMessageIds('wf_1', 'mail', [...model.keys()])
  const expected = [...model.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  expect(stored.map(({ id, status, reservedByRunId: holder, payload }) => ({ id, status, holder, payload }))).toEqual(
    expected,
  )
  for (const id of RUNS) expect(store.events.reservedBy(id)).toHaveLength(heldBy(model, id).length)
}

test('whatever is done to events in whatever order, each is where the rules say', async () => {
  const { store, database } = await openTestStore()
  store.transaction((tx) => {
    insertWorkflow(tx)
    tx.scriptRuns.insert(buildScriptRun())
    for (const id of RUNS) tx.handlerRuns.insert(buildHandlerRun({ id, status: 'crashed', endTimestamp: 2 }))
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      database.transaction(() => database.run('DELETE FROM events'))
      const model: Model = new Map()
      for (const [n, action] of actions.entries()) perform(store, model, action, n)
      compare(store, model)
    }),
    { numRuns: 300 },
  )
})
