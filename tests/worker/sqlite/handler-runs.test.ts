import { beforeEach, describe, expect, test } from 'vitest'
import type { HandlerRun } from '#engine/model/handler-run.ts'
import type { Store } from '#engine/ports/store.ts'
import { buildHandlerRun, buildScriptRun, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
})

describe('handler runs', () => {
  const failed: Partial<HandlerRun> = {
    status: 'paused:transient',
    endTimestamp: 2,
    error: 'lost',
    errorType: 'network',
  }
  const insert = (changes: Partial<HandlerRun>) =>
    store.transaction((tx) => tx.handlerRuns.insert(buildHandlerRun(changes)))

  beforeEach(() => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      insertWorkflow(tx, 'wf_2')
      tx.scriptRuns.insert(buildScriptRun())
      tx.scriptRuns.insert(buildScriptRun({ id: 'run_2', workflowId: 'wf_2' }))
    })
  })

  test('every property survives, null or set', () => {
    const full: HandlerRun = buildHandlerRun({
      id: 'hr_2',
      phase: 'emitting',
      status: 'failed:logic',
      retryOf: 'hr_1',
      attempt: 2,
      retriesUsed: 1,
      retryAt: 1_700_000_000_123,
      prepareResult: '{"reservations":[]}',
      mutationOutcome: 'applied',
      mutationResult: '{"id":7}',
      inputState: '{"a":1}',
      outputState: 'null',
      error: 'boom',
      errorType: 'logic',
      errorLine: 3,
      errorColumn: 7,
      cost: 12,
      phaseTimes: '[["preparing",1700000000000]]',
      endTimestamp: 1_700_000_000_100,
    })
    const plain = buildHandlerRun(failed)
    insert(plain)
    insert(full)
    expect(store.handlerRuns.get('hr_1')).toEqual(plain)
    expect(store.handlerRuns.get('hr_2')).toEqual(full)
    expect(store.handlerRuns.get('hr_9')).toBeUndefined()
  })

  test('an update changes what it names, also to null, and nothing else', () => {
    insert(failed)
    store.transaction((tx) => tx.handlerRuns.update('hr_1', { retryAt: 9, cost: 5 }))
    store.transaction((tx) => {
      tx.handlerRuns.update('hr_1', { retryAt: null })
      tx.handlerRuns.update('hr_1', {})
    })
    expect(store.handlerRuns.get('hr_1')).toEqual(buildHandlerRun({ ...failed, cost: 5 }))
    expect(() => store.transaction((tx) => tx.handlerRuns.update('hr_9', { cost: 1 }))).toThrow(/one row/)
  })

  test('the active run of a workflow is found, and can only be one', () => {
    insert({})
    insert({ id: 'hr_2', workflowId: 'wf_2', scriptRunId: 'run_2' })
    expect(store.handlerRuns.activeOf('wf_1')?.id).toBe('hr_1')
    expect(store.handlerRuns.listActive().map(({ id }) => id)).toEqual(['hr_1', 'hr_2'])
    expect(() => insert({ id: 'hr_3' })).toThrow(/UNIQUE/)
    store.transaction((tx) => tx.handlerRuns.update('hr_1', failed))
    expect(store.handlerRuns.activeOf('wf_1')).toBeUndefined()
  })

  test('the attempts of a run are listed by age, and its producers once each', () => {
    const committed: Partial<HandlerRun> = {
      handlerType: 'producer',
      phase: 'committed',
      status: 'committed',
      endTimestamp: 2,
    }
    insert({ ...committed, id: 'hr_2', handlerName: 'poll' })
    insert({ ...committed, id: 'hr_1', handlerName: 'poll' })
    insert({ ...committed, id: 'hr_3', handlerName: 'other' })
    insert({ id: 'hr_4' })
    expect(store.handlerRuns.listByScriptRun('run_1').map(({ id }) => id)).toEqual(['hr_1', 'hr_2', 'hr_3', 'hr_4'])
    expect(store.handlerRuns.producersRunIn('run_1')).toEqual(['other', 'poll'])
    expect(store.handlerRuns.producersRunIn('run_2')).toEqual([])
  })

  test('an attempt is followed by at most one retry', () => {
    insert(failed)
    expect(store.handlerRuns.retryOf('hr_1')).toBeUndefined()
    insert({ ...failed, id: 'hr_2', retryOf: 'hr_1', attempt: 2 })
    expect(store.handlerRuns.retryOf('hr_1')?.id).toBe('hr_2')
    expect(() => insert({ id: 'hr_3', retryOf: 'hr_1', attempt: 2 })).toThrow(/UNIQUE/)
  })

  test('retries are found by workflow, when due, and by the next one to come', () => {
    expect(store.handlerRuns.nextRetryAt(0)).toBeNull()
    insert({ ...failed, id: 'hr_1', retryAt: 300 })
    insert({ ...failed, id: 'hr_2', retryAt: 100 })
    insert({ ...failed, id: 'hr_3', retryAt: 200, workflowId: 'wf_2', scriptRunId: 'run_2' })
    insert({ ...failed, id: 'hr_4' })
    expect(store.handlerRuns.awaitingRetry('wf_1').map(({ id }) => id)).toEqual(['hr_2', 'hr_1'])
    expect(store.handlerRuns.dueRetries(99)).toEqual([])
    expect(store.handlerRuns.dueRetries(200).map(({ id }) => id)).toEqual(['hr_2', 'hr_3'])
    expect(store.handlerRuns.nextRetryAt(100)).toBe(200)
    expect(store.handlerRuns.nextRetryAt(300)).toBeNull()
  })
})
