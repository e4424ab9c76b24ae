import { createSqliteStore } from '#worker/sqlite/store.ts'
import { listEvents } from '#worker/sqlite/views/event-views.ts'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Store, StoreWrites } from '#engine/ports/store.ts'
import { buildMutation, buildPublication, insertActiveRun } from '../../support/build-rows.ts'
import { openTestStore, type TestStore } from '../../support/open-test-store.ts'

let opened: TestStore
let partialIndexes: Set<unknown>
beforeAll(async () => {
  opened = await openTestStore()
  opened.store.transaction((tx) => insertActiveRun(tx))
  const partial = `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'`
  partialIndexes = new Set(opened.database.all(partial).map(({ name }) => name))
  // The one that holds what is done.
  expect(partialIndexes.delete('events_not_pending')).toBe(true)
})

/** One that has nothing in memory that it could answer from. */
const freshStore = (): Store => createSqliteStore(opened.database)

/** The steps SQLite takes for every statement that `work` executes. */
function stepsOf(work: () => unknown): string[] {
  const executed: string[] = []
  const all = vi.spyOn(opened.database, 'all')
  const run = vi.spyOn(opened.database, 'run')
  const postpone = vi.spyOn(opened.database, 'postpone')
  try {
    work()
    for (const [sql] of [...all.mock.calls, ...run.mock.calls]) executed.push(sql)
    for (const [, statement] of postpone.mock.calls) executed.push(statement().sql)
  } finally {
    for (const spy of [all, run, postpone]) spy.mockRestore()
  }
  expect(executed).not.toEqual([])
  return executed.flatMap((sql) => {
    const nulls = Array.from({ length: sql.split('?').length - 1 }, () => null)
    return opened.database.all(`EXPLAIN QUERY PLAN ${sql}`, nulls).map(({ detail }) => String(detail))
  })
}

/** Walking a partial index is no scan of the table: it holds only what is still to be done. */
function isScanOfATable(step: string): boolean {
  const table = /^SCAN (\w+)/.exec(step)?.[1]
  if (table === undefined || ['CONSTANT', 'json_each', 'counted'].includes(table)) return false
  const index = /USING (?:COVERING )?INDEX (\w+)/.exec(step)?.[1]
  return !partialIndexes.has(index)
}

const isSorting = (step: string) => step.includes('TEMP B-TREE')

describe('the scheduler finds its work by an index and in order:', () => {
  const lookUps: [name: string, lookUp: (store: Store) => unknown][] = [
    ['schedules due', (store) => store.producerSchedules.due(1)],
    ['schedules planned ahead of the clock', (store) => store.producerSchedules.plannedAhead(1)],
    ['the next schedule', (store) => store.producerSchedules.nextRunAt(1)],
    ['wake times due', (store) => store.handlerStates.dueWakes(1)],
    ['the next wake time', (store) => store.handlerStates.nextWakeAt(1)],
    ['retries due', (store) => store.handlerRuns.dueRetries(1)],
    ['the next retry', (store) => store.handlerRuns.nextRetryAt(1)],
    ['pending events of a topic', (store) => store.events.peek('wf_1', 'mail', 10)],
    ['the active handler run', (store) => store.handlerRuns.activeOf('wf_1')],
    ['the open run', (store) => store.scriptRuns.openOf('wf_1')],
    ['attempts of a run', (store) => store.handlerRuns.listByScriptRun('run_1')],
    ['log of a run', (store) => store.logs.ofScriptRun('run_1')],
    ['schedules of a workflow', (store) => store.producerSchedules.forWorkflow('wf_1')],
    ['states of a workflow', (store) => store.handlerStates.forWorkflow('wf_1')],
    ['agents of a session', (store) => store.sessionAgents.ofSession('sess_1')],
    ['the plan of a session', (store) => store.sessionAgents.planOf('sess_1')],
    ['the agent of a workflow', (store) => store.sessionAgents.ofWorkflow('wf_1')],
    ['events of a session', (store) => store.sessionEvents.after('sess_1', 7, 100)],
    ['the last event of a session', (store) => store.sessionEvents.lastId('sess_1')],
    ['unread messages of an agent', (store) => store.sessionMessages.unreadBy('agent_1')],
    ['messages of a session', (store) => store.sessionMessages.list('sess_1')],
    ['the context of a session', (store) => store.sessionContext.list('sess_1')],
    ['versions of a workflow', (store) => store.scripts.listByWorkflow('wf_1')],
    ['mutations of the last day', (store) => store.mutations.madeSince('wf_1', 1)],
    ['the mutation that used up a limit', (store) => store.mutations.madeAt('wf_1', 1, 3)],
    ['the cost of the last day', (store) => store.handlerRuns.costSince('wf_1', 1)],
  ]
  test.each(lookUps)('%s', (_, lookUp) => {
    const steps = stepsOf(() => lookUp(freshStore()))
    expect(steps.filter(isScanOfATable)).toEqual([])
    expect(steps.filter(isSorting)).toEqual([])
  })
})

describe('by an index, then sorted because there are few:', () => {
  const lookUps: [name: string, lookUp: (store: Store) => unknown][] = [
    ['oldest pending events', (store) => store.events.oldestPending('wf_1')],
    ['pending events of many workflows', (store) => store.events.pendingByTopic(['wf_1', 'wf_2'])],
    ['active handler runs', (store) => store.handlerRuns.listActive()],
    ['the attempt that used up a limit', (store) => store.handlerRuns.costReachedAt('wf_1', 1, 3)],
    ['sessions under way', (store) => store.sessions.listUnderWay()],
    ['the cost of a session', (store) => store.sessions.costOf('sess_1')],
    ['outputs of agents', (store) => store.sessionAgents.outputs('sess_1', ['a'])],
    ['the last attempt that stopped', (store) => store.handlerRuns.lastStopped('wf_1')],
    ['planned times of many workflows', (store) => store.workflows.plannedTimes(['wf_1', 'wf_2'])],
    ['workflows that may start', (store) => store.workflows.startable(['wf_1'])],
    ['open runs', (store) => store.scriptRuns.listOpen()],
    ['attempts awaiting their retry', (store) => store.handlerRuns.awaitingRetry('wf_1')],
    ['the retry of an attempt', (store) => store.handlerRuns.retryOf('hr_1')],
    ['producers run', (store) => store.handlerRuns.producersRunIn('run_1')],
    ['events reserved by a run', (store) => store.events.reservedBy('hr_1')],
    ['the ids of events reserved by a run', (store) => store.events.reservedIds('hr_1')],
    ['an event by its message id', (store) => store.events.getByMessageIds('wf_1', 'mail', ['m1'])],
    ['events by message id', (store) => store.events.getByMessageIds('wf_1', 'mail', ['m1', 'm2'])],
    ['the mutation of a run', (store) => store.mutations.ofHandlerRun('hr_1')],
    ['the open escalation of a run', (store) => store.escalations.openOfHandlerRun('hr_1')],
    ['whether a run was given up', (store) => store.escalations.wasExhausted('hr_1')],
    ['open escalations of a workflow', (store) => store.escalations.list({ workflowId: 'wf_1', open: true })],
    ['open escalations', (store) => store.escalations.list({ open: true })],
  ]
  test.each(lookUps)('%s', (_, lookUp) => {
    expect(stepsOf(() => lookUp(freshStore())).filter(isScanOfATable)).toEqual([])
  })
})

describe('a write finds its rows by an index:', () => {
  const writes: Record<string, (tx: StoreWrites) => void> = {
    publish: (tx) => {
      tx.events.publish(buildPublication())
    },
    reserve: (tx) => {
      tx.events.publish(buildPublication())
      tx.events.reserve(['evt_1'], 'hr_1')
      tx.events.publish({ ...buildPublication(), id: 'evt_2', messageId: 'm2' })
      tx.events.publish({ ...buildPublication(), id: 'evt_3', messageId: 'm3' })
      tx.events.reserve(['evt_2', 'evt_3'], 'hr_1')
    },
    release: (tx) => {
      tx.events.releaseReserved('hr_1')
    },
    settle: (tx) => tx.events.settleReserved('hr_1', 'consumed'),
    transfer: (tx) => tx.events.transferReserved('hr_1', 'hr_1'),
    skip: (tx) => {
      tx.events.skipPending(['evt_1'])
    },
    'update of a handler run': (tx) => tx.handlerRuns.update('hr_1', { cost: 1 }),
    'a mutation': (tx) => {
      tx.mutations.insert(buildMutation())
      tx.mutations.update('mut_1', { status: 'failed' }, 2)
    },
    'what an agent has read': (tx) => {
      tx.sessionMessages.markSeen([1], 'hr_1')
      tx.sessionMessages.transferSeen('agent_1', 'hr_1', 'hr_1')
      tx.sessionMessages.markRead('agent_1', 'hr_1', 2)
    },
    'a wake time': (tx) => tx.handlerStates.setWakeAt('wf_1', 'process', 5, 1),
  }
  test.each(Object.entries(writes))('%s', (_, write) => {
    class TakenBack extends Error {}
    const steps = stepsOf(() => {
      const attempt = () =>
        opened.store.transaction((tx) => {
          write(tx)
          throw new TakenBack()
        })
      expect(attempt).toThrow(TakenBack)
    })
    expect(steps.filter(isScanOfATable)).toEqual([])
  })
})

test('runs that are old enough come from the index in their order, although workflows keep theirs for different times', () => {
  const steps = stepsOf(() => opened.store.archives.due('run', { now: 1e12, days: 30 }, { finishedAt: 0, id: '' }, 50))
  expect(steps.filter((step) => step.startsWith('SEARCH r USING INDEX script_runs_finished'))).toHaveLength(1)
  expect(steps.filter(isSorting)).toEqual([])
})

test('every reference is backed by an index, so that deleting a row looks for nothing in whole tables', () => {
  const references = opened.database.all(`
    SELECT t.name AS child, f."from" AS "column" FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f
    WHERE t.type = 'table'`)
  expect(references.length).toBeGreaterThan(10)
  for (const { child, column } of references) {
    const steps = opened.database
      .all(`EXPLAIN QUERY PLAN SELECT rowid FROM ${String(child)} WHERE ${String(column)} = ?`, [null])
      .map(({ detail }) => String(detail))
    expect(steps).toEqual([expect.stringMatching(/^SEARCH .* USING (COVERING )?INDEX /)])
  }
})

describe('a list of events comes from an index in its order, however many there are:', () => {
  beforeAll(() => {
    opened.store.transaction((tx) => tx.events.publish(buildPublication()))
  })

  test.each([
    ['all of a workflow', {}],
    ['of a topic', { topic: 'mail' }],
    ['pending ones', { status: 'pending' as const }],
    ['consumed ones', { status: 'consumed' as const }],
    ['the next page', { before: 'evt_9' }],
  ])('%s', (_name, query) => {
    const steps = stepsOf(() => listEvents(opened.database, { workflowId: 'wf_1', ...query }))
    expect(steps.filter((step) => /\be\b USING INDEX events_(not_)?pending /.test(step))).not.toEqual([])
    expect(steps.filter((step) => isScanOfATable(step) || isSorting(step))).toEqual([])
  })
})
