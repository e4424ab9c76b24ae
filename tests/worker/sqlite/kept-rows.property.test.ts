import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Store, StoreReads, StoreWrites } from '#engine/ports/store.ts'
import { createSqliteStore } from '#worker/sqlite/store.ts'
import {
  buildHandlerRun,
  buildMutation,
  buildPublication,
  buildScriptRun,
  insertWorkflow,
} from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

const WORKFLOWS = ['wf_1', 'wf_2']
const NUMBERS = [1, 2, 3]
const TIMES = [0, 2, 4]

type Write = (tx: StoreWrites) => void
const workflow = fc.constantFrom(...WORKFLOWS)
const number = fc.constantFrom(...NUMBERS)
const time = fc.option(fc.nat(5))
/** Without a NUL and with one, which is not stored as it was given. */
const word = fc.constantFrom('"a"', '"b"', '"c\0"')

const writes: Record<string, fc.Arbitrary<Write>> = {
  'a run is opened': fc.tuple(workflow, number).map(([workflowId, n]) => (tx) => {
    const scriptId = `scr_${workflowId.slice(3)}`
    tx.scriptRuns.insert(buildScriptRun({ id: `run_${n}`, workflowId, scriptId }))
  }),
  'a run is closed': number.map((n) => (tx) => tx.scriptRuns.close(`run_${n}`, 'completed', null, 9)),
  'a run is opened again': number.map((n) => (tx) => tx.scriptRuns.reopen(`run_${n}`)),
  'a run counts': number.map((n) => (tx) => {
    tx.scriptRuns.countHandlerRun(`run_${n}`)
    tx.scriptRuns.addCost(`run_${n}`, n)
  }),
  'an attempt begins': fc.tuple(workflow, number, number, word).map(([workflowId, n, run, inputState]) => (tx) => {
    const scriptId = `scr_${workflowId.slice(3)}`
    tx.handlerRuns.insert(
      buildHandlerRun({ id: `hr_${n}`, scriptRunId: `run_${run}`, workflowId, scriptId, inputState }),
    )
  }),
  'an attempt stops': fc.tuple(number, time).map(([n, retryAt]) => (tx) => {
    const error = { error: 'no', errorType: 'network', endTimestamp: 9 } as const
    tx.handlerRuns.update(`hr_${n}`, { status: 'paused:transient', retryAt, ...error })
  }),
  'an attempt goes on': number.map((n) => (tx) => {
    tx.handlerRuns.update(`hr_${n}`, {
      status: 'active',
      error: null,
      errorType: null,
      endTimestamp: null,
      retryAt: null,
    })
  }),
  'an attempt costs': number.map((n) => (tx) => tx.handlerRuns.update(`hr_${n}`, { cost: n, phase: 'preparing' })),
  'a mutation is recorded': fc.tuple(number, number, word).map(([n, run, error]) => (tx) => {
    tx.mutations.insert(buildMutation({ id: `mut_${n}`, handlerRunId: `hr_${run}`, status: 'failed', error }))
  }),
  'a mutation is moved': number.map((n) => (tx) => tx.mutations.update(`mut_${n}`, { status: 'indeterminate' }, 2)),
  'a state is kept': fc.tuple(workflow, number, fc.constantFrom('"a"', '"b"')).map(([id, n, state]) => (tx) => {
    tx.handlerStates.setState(id, `handler ${n}`, state, 1)
  }),
  'a handler is woken later': fc.tuple(workflow, number, time).map(([id, n, wakeAt]) => (tx) => {
    tx.handlerStates.setWakeAt(id, `handler ${n}`, wakeAt, 1)
  }),
  'a producer is planned': fc.tuple(workflow, number, fc.nat(5)).map(([workflowId, n, nextRunAt]) => (tx) => {
    const schedule = { scheduleType: 'interval', scheduleValue: '1d', timezone: null, lastRunAt: null } as const
    tx.producerSchedules.put({ workflowId, producerName: `producer ${n}`, nextRunAt, ...schedule }, 1)
  }),
  'a producer is taken away': fc.tuple(workflow, number).map(
    ([id, n]) =>
      (tx) =>
        tx.producerSchedules.remove(id, `producer ${n}`),
  ),
  'an event is published': fc.tuple(workflow, number).map(([workflowId, n]) => (tx) => {
    tx.events.publish(
      buildPublication({ id: `evt_${n}`, workflowId, messageId: `m${n}`, topic: n === 3 ? 'new' : 'mail' }),
    )
  }),
  /** An attempt reserves when it holds nothing. */
  'an event is reserved': fc.tuple(number, number).map(([n, run]) => (tx) => {
    if (tx.events.reservedIds(`hr_${run}`).length === 0) tx.events.reserve([`evt_${n}`], `hr_${run}`)
  }),
  'events are settled': number.map((n) => (tx) => tx.events.settleReserved(`hr_${n}`, 'consumed')),
  'events are released': number.map((n) => (tx) => tx.events.releaseReserved(`hr_${n}`)),
  'events change hands': fc.tuple(number, number).map(
    ([from, to]) =>
      (tx) =>
        tx.events.transferReserved(`hr_${from}`, `hr_${to}`),
  ),
  'a topic is added': workflow.map((id) => (tx) => tx.topics.ensure(id, ['new'], 1)),
  'a workflow is deleted': workflow.map((id) => (tx) => tx.workflows.delete(id)),
  'a workflow is created': workflow.map((id) => (tx) => insertWorkflow(tx, id)),
}
const write = fc.oneof(...Object.values(writes))
const action = fc.record({
  writes: fc.array(write, { minLength: 1, maxLength: 3 }),
  isTakenBack: fc.boolean(),
  isTogether: fc.boolean(),
})

const everything = (store: StoreReads) => ({
  byWorkflow: WORKFLOWS.map((id) => [
    store.workflows.get(id),
    store.handlerRuns.activeOf(id),
    store.handlerRuns.awaitingRetry(id),
    store.scriptRuns.openOf(id),
    store.handlerStates.forWorkflow(id),
    store.producerSchedules.forWorkflow(id),
    store.events.getByMessageIds(id, 'mail', ['m1']),
    store.events.getByMessageIds(id, 'mail', ['m2', 'm1']),
    store.events.peek(id, 'new', 5),
  ]),
  byNumber: NUMBERS.map((n) => [
    store.handlerRuns.get(`hr_${n}`),
    store.events.reservedIds(`hr_${n}`),
    store.scriptRuns.get(`run_${n}`),
    store.mutations.get(`mut_${n}`),
    store.mutations.ofHandlerRun(`hr_${n}`),
    store.handlerStates.get('wf_1', `handler ${n}`),
  ]),
  byTime: TIMES.map((at) => [
    store.handlerRuns.nextRetryAt(at),
    store.handlerStates.nextWakeAt(at),
    store.producerSchedules.nextRunAt(at),
  ]),
})

const ofAttempts = fc.oneof(
  ...['an attempt begins', 'an attempt stops', 'an attempt goes on', 'an attempt costs', 'a run counts']
    .map((name) => writes[name])
    .filter((each) => each !== undefined),
)

/** What is refused, by a CHECK or because there is no such row, is rolled back like everything else. */
const attempt = (store: Store, work: Write, isTakenBack: boolean): void => {
  try {
    store.transaction((tx) => {
      work(tx)
      everything(tx)
      if (isTakenBack) throw new Error('no')
    })
  } catch {
    // Compared below.
  }
}

/** One that is refused takes those with it that were before. */
const attemptTogether = (store: Store, several: readonly Write[], isTakenBack: boolean): void => {
  try {
    store.together(() => {
      for (const each of several) {
        attempt(store, each, false)
        everything(store)
      }
      if (isTakenBack) throw new Error('no')
    })
  } catch {
    // Compared below.
  }
}

test('whatever is written or rolled back in whatever order, what is kept in memory is what is in the file', async () => {
  const empty = (await openTestStore()).exportBytes()
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const { store, database } = await openTestStore(empty)
      store.transaction((tx) => {
        for (const id of WORKFLOWS) insertWorkflow(tx, id)
        tx.scriptRuns.insert(buildScriptRun())
        tx.handlerRuns.insert(buildHandlerRun())
      })
      for (const { writes: several, isTakenBack, isTogether } of actions) {
        if (isTogether) attemptTogether(store, several, isTakenBack)
        else for (const each of several) attempt(store, each, false)
        // Once more before the same is written again: what is refused then makes everything be forgotten.
        expect(everything(store)).toEqual(everything(createSqliteStore(database)))
        attempt(store, (tx) => several.forEach((each) => each(tx)), isTakenBack)
        expect(everything(store)).toEqual(everything(createSqliteStore(database)))
      }
      database.close()
    }),
  )
})

test('what is written of a row in one commit leaves what it would leave if each write were a statement', async () => {
  const empty = (await openTestStore()).exportBytes()
  await fc.assert(
    fc.asyncProperty(fc.array(ofAttempts, { minLength: 1, maxLength: 8 }), async (several) => {
      const rowsAfter = async (between: (store: Store) => void) => {
        const { store, database } = await openTestStore(empty)
        store.transaction((tx) => {
          for (const id of WORKFLOWS) insertWorkflow(tx, id)
          tx.scriptRuns.insert(buildScriptRun())
          tx.handlerRuns.insert(buildHandlerRun())
        })
        let isRefused = false
        try {
          store.transaction((tx) => {
            for (const each of several) {
              each(tx)
              between(createSqliteStore(database))
            }
          })
        } catch {
          isRefused = true
        }
        const rows = everything(createSqliteStore(database))
        database.close()
        return { isRefused, rows }
      }
      const oneByOne = await rowsAfter((store) => store.handlerRuns.listActive())
      const atOnce = await rowsAfter(() => undefined)
      // A row that nobody sees may be in between what it may never be.
      fc.pre(!oneByOne.isRefused)
      expect(atOnce).toEqual(oneByOne)
    }),
  )
})
