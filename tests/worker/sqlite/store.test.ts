import { beforeEach, describe, expect, test } from 'vitest'
import type { HandlerRun } from '#engine/model/handler-run.ts'
import type { LogLine } from '#engine/model/log.ts'
import type { ProducerSchedule } from '#engine/model/workflow.ts'
import type { Store } from '#engine/ports/store.ts'
import {
  buildEscalation,
  buildHandlerRun,
  buildMutation,
  buildPublication,
  buildScript,
  buildScriptRun,
  buildWorkflow,
  insertActiveRun,
  insertWorkflow,
} from '../../support/build-rows.ts'
import { openTestStore, type TestStore } from '../../support/open-test-store.ts'

let opened: TestStore
let store: Store
beforeEach(async () => {
  opened = await openTestStore()
  store = opened.store
})

const countRows = (table: string) => Number(opened.database.get(`SELECT count(*) AS n FROM ${table}`)?.['n'])

describe('workflows and scripts', () => {
  test('a workflow is read back as it was written', () => {
    const workflow = buildWorkflow({
      timezone: 'Europe/Berlin',
      permissions: ['demo', 'http:api.example.com'],
      retryPolicy: { retries: 3, firstDelayMs: 500, factor: 1.5, longestDelayMs: 2000 },
      retentionDays: 7,
    })
    store.transaction((tx) => {
      tx.workflows.insert(workflow)
      tx.scripts.insert(buildScript())
    })
    expect(store.workflows.get('wf_1')).toEqual(workflow)
    expect(store.workflows.get('wf_2')).toBeUndefined()
  })

  test('workflows are listed by age', () => {
    store.transaction((tx) => {
      insertWorkflow(tx, 'wf_2')
      insertWorkflow(tx, 'wf_1')
    })
    expect(store.workflows.list().map(({ id }) => id)).toEqual(['wf_1', 'wf_2'])
  })

  test('status, permissions and active script change alone, and leave their time', () => {
    store.transaction((tx) => insertWorkflow(tx))
    const before = store.workflows.get('wf_1')
    const active = { name: 'Renamed', activeScriptId: 'scr_2', activeVersion: 2, handlerConfig: '{"consumers":{}}' }
    store.transaction((tx) => {
      tx.workflows.setStatus('wf_1', 'paused', 2)
      tx.workflows.setPermissions('wf_1', ['kv'], 3)
      tx.scripts.insert(buildScript({ id: 'scr_2', version: 2 }))
      tx.workflows.setActiveScript('wf_1', active, 4)
    })
    expect(store.workflows.get('wf_1')).toEqual({
      ...before,
      ...active,
      status: 'paused',
      permissions: ['kv'],
      updatedAt: 4,
    })
  })

  test('a retry policy that could not be followed is found where it is read', () => {
    store.transaction((tx) => insertWorkflow(tx))
    opened.database.transaction(() => opened.database.run(`UPDATE workflows SET retry_policy = '{"retries":-1}'`))
    expect(() => store.workflows.list()).toThrow('The retry policy of wf_1 cannot be used')
  })

  test('a block is set and lifted as a whole', () => {
    store.transaction((tx) => insertActiveRun(tx))
    const block = { runId: 'hr_1', kind: 'logic_failure', message: 'broken' } as const
    store.transaction((tx) => tx.workflows.setBlock('wf_1', block, 2))
    expect(store.workflows.get('wf_1')?.block).toEqual(block)
    store.transaction((tx) => tx.workflows.setBlock('wf_1', null, 3))
    expect(store.workflows.get('wf_1')?.block).toBeNull()
  })

  test('changing a workflow that is not there is a bug, not a silence', () => {
    expect(() => store.transaction((tx) => tx.workflows.setStatus('wf_9', 'paused', 1))).toThrow(/one row/)
  })

  test('versions are listed in order and never change', () => {
    store.transaction((tx) => insertWorkflow(tx))
    const second = buildScript({ id: 'scr_0', version: 2, source: '// v2' })
    store.transaction((tx) => tx.scripts.insert(second))
    expect(store.scripts.listByWorkflow('wf_1').map(({ version }) => version)).toEqual([1, 2])
    expect(store.scripts.get('scr_0')).toEqual(second)
    const rewrite = () => opened.database.run(`UPDATE scripts SET source = '// other'`)
    expect(() => opened.database.transaction(rewrite)).toThrow(/immutable/)
  })

  test('deleting a workflow removes everything it owns and nothing else', () => {
    store.transaction((tx) => {
      insertActiveRun(tx, { phase: 'mutated', prepareResult: '{}', mutationOutcome: 'none' })
      insertWorkflow(tx, 'wf_2')
      tx.events.publish(buildPublication())
      tx.events.publish(buildPublication({ id: 'evt_2', workflowId: 'wf_2' }))
      tx.events.reserve(['evt_1'], 'hr_1')
      tx.mutations.insert(buildMutation())
      tx.escalations.insert(buildEscalation({ mutationId: 'mut_1' }))
      tx.workflows.setBlock('wf_1', { runId: 'hr_1', kind: 'logic_failure', message: 'broken' }, 1)
      tx.handlerStates.setState('wf_1', 'process', '{}', 1)
      tx.producerSchedules.put(buildSchedule(), 1)
      tx.logs.append({ id: 'hr_1', scriptRunId: 'run_1', workflowId: 'wf_1' }, [buildLogLine()])
    })
    store.transaction((tx) => tx.workflows.delete('wf_1'))
    const owned = [
      'script_runs',
      'handler_runs',
      'mutations',
      'escalations',
      'handler_state',
      'producer_schedules',
      'logs',
    ]
    for (const table of owned) expect([table, countRows(table)]).toEqual([table, 0])
    for (const table of ['workflows', 'scripts', 'events']) expect([table, countRows(table)]).toEqual([table, 1])
    expect(countRows('topics')).toBe(2)
    expect(store.events.get('evt_2')?.workflowId).toBe('wf_2')
  })
})

describe('events', () => {
  beforeEach(() => store.transaction((tx) => insertActiveRun(tx)))

  const publish = (changes: Parameters<typeof buildPublication>[0] = {}) =>
    store.transaction((tx) => tx.events.publish(buildPublication(changes)))
  const publishMany = (ids: string[], topic = 'mail') => {
    for (const id of ids) publish({ id: `evt_${id}`, messageId: `m${id}`, topic })
  }
  const reserve = (ids: string[], runId = 'hr_1') => store.transaction((tx) => tx.events.reserve(ids, runId))
  const idsOf = (events: { id: string }[]) => events.map(({ id }) => id)

  test('an event is read back as it was published', () => {
    const event = buildPublication({ createdByRunId: 'hr_1', causedBy: ['evt_0', 'evt_00'], title: null })
    expect(publish(event)).toBe('inserted')
    expect(store.events.get('evt_1')).toEqual({ ...event, status: 'pending', reservedByRunId: null })
  })

  test('ensuring topics again keeps their events', () => {
    publish()
    store.transaction((tx) => tx.topics.ensure('wf_1', ['mail', 'new'], 2))
    expect(store.events.peek('wf_1', 'mail', 10)).toHaveLength(1)
  })

  test('publishing to a topic that is not there names it', () => {
    expect(() => publish({ topic: 'nowhere' })).toThrow('Workflow wf_1 has no topic nowhere.')
  })

  test('a second publish of the same message updates a pending event and keeps its identity', () => {
    publish()
    expect(publish({ id: 'evt_2', title: 'New', payload: '{"n":2}', createdAt: 99, causedBy: ['evt_9'] })).toBe(
      'updated',
    )
    expect(store.events.get('evt_2')).toBeUndefined()
    expect(store.events.get('evt_1')).toMatchObject({ title: 'New', payload: '{"n":2}', causedBy: [] })
  })

  test.each(['consumed', 'skipped'] as const)('a second publish never resurrects a %s event', (status) => {
    publish()
    reserve(['evt_1'])
    expect(publish({ id: 'evt_2', title: 'New' })).toBe('ignored')
    store.transaction((tx) => tx.events.settleReserved('hr_1', status))
    expect(publish({ id: 'evt_3', title: 'New' })).toBe('ignored')
    expect(store.events.get('evt_1')).toMatchObject({ status, title: 'Hello', reservedByRunId: null })
    expect(countRows('events')).toBe(1)
  })

  test('the same message id is another event in another topic or workflow', () => {
    store.transaction((tx) => insertWorkflow(tx, 'wf_2'))
    expect(publish()).toBe('inserted')
    expect(publish({ id: 'evt_2', topic: 'row' })).toBe('inserted')
    expect(publish({ id: 'evt_3', workflowId: 'wf_2' })).toBe('inserted')
  })

  test('peek shows pending events of one topic, oldest id first, whatever their times and order of arrival', () => {
    publish({ id: 'evt_3', messageId: 'm3', createdAt: 1 })
    publish({ id: 'evt_1', messageId: 'm1', createdAt: 3 })
    publish({ id: 'evt_2', messageId: 'm2', createdAt: 2 })
    publishMany(['0'], 'row')
    expect(idsOf(store.events.peek('wf_1', 'mail', 2))).toEqual(['evt_1', 'evt_2'])
    reserve(['evt_1'])
    expect(idsOf(store.events.peek('wf_1', 'mail', 10))).toEqual(['evt_2', 'evt_3'])
    expect(store.events.peek('wf_1', 'nowhere', 10)).toEqual([])
  })

  test('message ids find events in any status, each once', () => {
    publishMany(['1', '2', '3'])
    reserve(['evt_2'])
    expect(idsOf(store.events.getByMessageIds('wf_1', 'mail', ['m2', 'm1', 'm2', 'm9']))).toEqual(['evt_1', 'evt_2'])
    expect(store.events.getByMessageIds('wf_1', 'mail', [])).toEqual([])
    expect(store.events.getByMessageIds('wf_1', 'row', ['m1'])).toEqual([])
  })

  test('message ids that look like numbers or hold quotes are found as they are', () => {
    const ids = ['1', '01', '1.0', 'null', `it's "quoted"`, 'ünï🙂']
    for (const [i, messageId] of ids.entries()) publish({ id: `evt_${i}`, messageId })
    const found = store.events.getByMessageIds('wf_1', 'mail', ids).map(({ messageId }) => messageId)
    expect(found).toEqual(ids)
  })

  test('a reservation takes all or nothing', () => {
    publishMany(['1', '2', '3'])
    reserve(['evt_1', 'evt_1'])
    expect(() => reserve(['evt_1', 'evt_2'])).toThrow(/2 pending events, but only 1/)
    expect(() => reserve(['evt_2', 'evt_9'])).toThrow(/2 pending events, but only 1/)
    expect(idsOf(store.events.reservedBy('hr_1'))).toEqual(['evt_1'])
    expect(store.events.get('evt_2')?.status).toBe('pending')
  })

  test('releasing gives everything back as pending and names the topics', () => {
    publishMany(['1', '2'])
    publishMany(['3'], 'row')
    reserve(['evt_1', 'evt_2', 'evt_3'])
    expect(store.transaction((tx) => tx.events.releaseReserved('hr_1'))).toEqual(['mail', 'row'])
    expect(store.events.reservedBy('hr_1')).toEqual([])
    expect(store.events.peek('wf_1', 'mail', 10)).toHaveLength(2)
    expect(store.transaction((tx) => tx.events.releaseReserved('hr_1'))).toEqual([])
  })

  test('a retry takes over what the attempt before it held', () => {
    publishMany(['1', '2'])
    reserve(['evt_1', 'evt_2'])
    store.transaction((tx) => {
      tx.handlerRuns.update('hr_1', { status: 'crashed', endTimestamp: 2 })
      tx.handlerRuns.insert(buildHandlerRun({ id: 'hr_2', retryOf: 'hr_1', attempt: 2 }))
      tx.events.transferReserved('hr_1', 'hr_2')
    })
    expect(store.events.reservedBy('hr_1')).toEqual([])
    expect(idsOf(store.events.reservedBy('hr_2'))).toEqual(['evt_1', 'evt_2'])
  })

  test('only pending events can be skipped, and their number is told', () => {
    publishMany(['1', '2', '3'])
    reserve(['evt_2'])
    expect(store.transaction((tx) => tx.events.skipPending(['evt_1', 'evt_2', 'evt_9']))).toBe(1)
    expect(store.events.get('evt_1')?.status).toBe('skipped')
    expect(store.events.get('evt_2')?.status).toBe('reserved')
  })

  test('pending events are counted per topic of the workflows named, with the oldest of each', () => {
    store.transaction((tx) => {
      insertWorkflow(tx, 'wf_2')
      insertWorkflow(tx, 'wf_3')
    })
    publishMany(['4', '2', '3'])
    publishMany(['1'], 'row')
    publish({ id: 'evt_5', workflowId: 'wf_2' })
    publish({ id: 'evt_6', workflowId: 'wf_3' })
    reserve(['evt_2'])
    expect(store.events.pendingByTopic(['wf_1', 'wf_2'])).toEqual([
      { workflowId: 'wf_1', topic: 'mail', pending: 2, oldestEventId: 'evt_3' },
      { workflowId: 'wf_1', topic: 'row', pending: 1, oldestEventId: 'evt_1' },
      { workflowId: 'wf_2', topic: 'mail', pending: 1, oldestEventId: 'evt_5' },
    ])
    expect(store.events.pendingByTopic([])).toEqual([])
  })
})

describe('script runs', () => {
  beforeEach(() => store.transaction((tx) => insertWorkflow(tx)))

  test('a run is open until it is closed, and again when it is reopened', () => {
    const run = buildScriptRun()
    store.transaction((tx) => tx.scriptRuns.insert(run))
    expect(store.scriptRuns.openOf('wf_1')).toEqual(run)
    store.transaction((tx) => tx.scriptRuns.close('run_1', 'failed', 'broken', 5))
    expect(store.scriptRuns.openOf('wf_1')).toBeUndefined()
    expect(store.scriptRuns.listOpen()).toEqual([])
    expect(store.scriptRuns.get('run_1')).toEqual({ ...run, result: 'failed', error: 'broken', endTimestamp: 5 })
    store.transaction((tx) => tx.scriptRuns.reopen('run_1'))
    expect(store.scriptRuns.listOpen()).toEqual([run])
  })

  test('a workflow cannot have two open runs', () => {
    store.transaction((tx) => tx.scriptRuns.insert(buildScriptRun()))
    const second = () => store.transaction((tx) => tx.scriptRuns.insert(buildScriptRun({ id: 'run_2' })))
    expect(second).toThrow(/UNIQUE/)
    store.transaction((tx) => tx.scriptRuns.close('run_1', 'completed', null, 5))
    expect(second).not.toThrow()
  })

  test('handler runs and costs add up', () => {
    store.transaction((tx) => {
      tx.scriptRuns.insert(buildScriptRun())
      tx.scriptRuns.countHandlerRun('run_1')
      tx.scriptRuns.countHandlerRun('run_1')
      tx.scriptRuns.addCost('run_1', 3_000_000_000)
      tx.scriptRuns.addCost('run_1', 7)
    })
    expect(store.scriptRuns.get('run_1')).toMatchObject({ handlerRunCount: 2, cost: 3_000_000_007 })
  })
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

describe('mutations', () => {
  beforeEach(() => store.transaction((tx) => insertActiveRun(tx)))

  test('a mutation is read back by its id and by its run', () => {
    const mutation = buildMutation()
    store.transaction((tx) => tx.mutations.insert(mutation))
    expect(store.mutations.get('mut_1')).toEqual(mutation)
    expect(store.mutations.ofHandlerRun('hr_1')).toEqual(mutation)
    expect(store.mutations.ofHandlerRun('hr_2')).toBeUndefined()
  })

  test('an update changes what it names and leaves its time', () => {
    store.transaction((tx) => {
      tx.mutations.insert(buildMutation())
      tx.mutations.update('mut_1', { status: 'indeterminate', error: 'timed out' }, 2)
      tx.mutations.update('mut_1', { status: 'applied', result: '{}', resolvedBy: 'user_happened', resolvedAt: 3 }, 3)
    })
    expect(store.mutations.get('mut_1')).toEqual(
      buildMutation({
        status: 'applied',
        result: '{}',
        error: 'timed out',
        resolvedBy: 'user_happened',
        resolvedAt: 3,
        updatedAt: 3,
      }),
    )
  })

  test('a handler run cannot have a second mutation', () => {
    store.transaction((tx) => tx.mutations.insert(buildMutation()))
    expect(() => store.transaction((tx) => tx.mutations.insert(buildMutation({ id: 'mut_2' })))).toThrow(/UNIQUE/)
  })
})

describe('handler state', () => {
  beforeEach(() => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      insertWorkflow(tx, 'wf_2')
    })
  })

  test('state and wake time of a handler do not disturb each other', () => {
    expect(store.handlerStates.get('wf_1', 'process')).toBeUndefined()
    store.transaction((tx) => {
      tx.handlerStates.setWakeAt('wf_1', 'process', 500, 1)
      tx.handlerStates.setState('wf_1', 'process', '{"n":1}', 2)
    })
    const key = { workflowId: 'wf_1', handlerName: 'process' }
    expect(store.handlerStates.get('wf_1', 'process')).toEqual({ ...key, state: '{"n":1}', wakeAt: 500 })
    store.transaction((tx) => tx.handlerStates.setWakeAt('wf_1', 'process', null, 3))
    expect(store.handlerStates.forWorkflow('wf_1')).toEqual([{ ...key, state: '{"n":1}', wakeAt: null }])
    expect(store.handlerStates.forWorkflow('wf_2')).toEqual([])
  })

  test('two consumers keep different wake times', () => {
    expect(store.handlerStates.nextWakeAt(0)).toBeNull()
    store.transaction((tx) => {
      tx.handlerStates.setWakeAt('wf_1', 'process', 500, 1)
      tx.handlerStates.setWakeAt('wf_1', 'digest', 200, 1)
      tx.handlerStates.setWakeAt('wf_2', 'process', 300, 1)
    })
    expect(store.handlerStates.dueWakes(300)).toEqual([
      { workflowId: 'wf_1', handlerName: 'digest', wakeAt: 200 },
      { workflowId: 'wf_2', handlerName: 'process', wakeAt: 300 },
    ])
    expect(store.handlerStates.nextWakeAt(300)).toBe(500)
    expect(store.handlerStates.nextWakeAt(500)).toBeNull()
  })
})

describe('producer schedules', () => {
  beforeEach(() => store.transaction((tx) => insertWorkflow(tx)))

  test('a schedule is put, replaced, served and removed', () => {
    const schedule = buildSchedule()
    store.transaction((tx) => tx.producerSchedules.put(schedule, 1))
    expect(store.producerSchedules.forWorkflow('wf_1')).toEqual([schedule])
    const cron: ProducerSchedule = { ...schedule, scheduleType: 'cron', scheduleValue: '* * * * *', timezone: 'UTC' }
    store.transaction((tx) => tx.producerSchedules.put(cron, 2))
    store.transaction((tx) => tx.producerSchedules.served('wf_1', 'poll', 900, 850))
    expect(store.producerSchedules.forWorkflow('wf_1')).toEqual([{ ...cron, nextRunAt: 900, lastRunAt: 850 }])
    store.transaction((tx) => tx.producerSchedules.remove('wf_1', 'poll'))
    expect(store.producerSchedules.forWorkflow('wf_1')).toEqual([])
  })

  test('what is due is found longest due first, and the next one to come after it', () => {
    store.transaction((tx) => {
      tx.producerSchedules.put(buildSchedule({ producerName: 'a', nextRunAt: 300 }), 1)
      tx.producerSchedules.put(buildSchedule({ producerName: 'b', nextRunAt: 100 }), 1)
      tx.producerSchedules.put(buildSchedule({ producerName: 'c', nextRunAt: 200 }), 1)
    })
    expect(store.producerSchedules.due(200).map(({ producerName }) => producerName)).toEqual(['b', 'c'])
    expect(store.producerSchedules.nextRunAt(200)).toBe(300)
    expect(store.producerSchedules.nextRunAt(300)).toBeNull()
  })
})

describe('escalations', () => {
  beforeEach(() => store.transaction((tx) => insertActiveRun(tx)))

  test('an escalation is open until it is resolved, once', () => {
    const escalation = buildEscalation()
    store.transaction((tx) => tx.escalations.insert(escalation))
    expect(store.escalations.openOfHandlerRun('hr_1')).toEqual(escalation)
    store.transaction((tx) => tx.escalations.resolve('esc_1', 'retry', '{"by":"me"}', 5))
    expect(store.escalations.openOfHandlerRun('hr_1')).toBeUndefined()
    const resolved = { ...escalation, resolution: 'retry', resolutionValue: '{"by":"me"}', resolvedAt: 5 }
    expect(store.escalations.get('esc_1')).toEqual(resolved)
    expect(() => store.transaction((tx) => tx.escalations.resolve('esc_1', 'skip', null, 6))).toThrow(/one row/)
    expect(store.escalations.get('esc_1')).toEqual(resolved)
  })

  test('an attempt whose retries were used up is known as such, also when the question is settled', () => {
    store.transaction((tx) => tx.escalations.insert(buildEscalation()))
    expect(store.escalations.wasExhausted('hr_1')).toBe(false)
    store.transaction((tx) => {
      tx.escalations.resolve('esc_1', 'retry', null, 5)
      tx.escalations.insert(buildEscalation({ id: 'esc_2', kind: 'retries_exhausted' }))
      tx.escalations.resolve('esc_2', 'retry', null, 6)
    })
    expect(store.escalations.wasExhausted('hr_1')).toBe(true)
    expect(store.escalations.wasExhausted('hr_2')).toBe(false)
  })

  test('a handler run has at most one open escalation', () => {
    store.transaction((tx) => tx.escalations.insert(buildEscalation()))
    const second = () => store.transaction((tx) => tx.escalations.insert(buildEscalation({ id: 'esc_2' })))
    expect(second).toThrow(/UNIQUE/)
    store.transaction((tx) => tx.escalations.resolve('esc_1', 'retry', null, 5))
    expect(second).not.toThrow()
  })

  test('the list is narrowed by workflow and by being open', () => {
    store.transaction((tx) => {
      insertWorkflow(tx, 'wf_2')
      tx.scriptRuns.insert(buildScriptRun({ id: 'run_2', workflowId: 'wf_2' }))
      tx.handlerRuns.insert(buildHandlerRun({ id: 'hr_2', workflowId: 'wf_2', scriptRunId: 'run_2' }))
      tx.escalations.insert(buildEscalation({ id: 'esc_2', workflowId: 'wf_2', handlerRunId: 'hr_2' }))
      tx.escalations.insert(buildEscalation({ id: 'esc_1', resolution: 'retry', resolvedAt: 2 }))
      tx.escalations.insert(buildEscalation({ id: 'esc_3' }))
    })
    const listed = (filter: Parameters<Store['escalations']['list']>[0]) =>
      store.escalations.list(filter).map(({ id }) => id)
    expect(listed({})).toEqual(['esc_1', 'esc_2', 'esc_3'])
    expect(listed({ open: true })).toEqual(['esc_2', 'esc_3'])
    expect(listed({ open: false })).toEqual(['esc_1'])
    expect(listed({ workflowId: 'wf_1' })).toEqual(['esc_1', 'esc_3'])
    expect(listed({ workflowId: 'wf_1', open: true })).toEqual(['esc_3'])
  })
})

describe('logs and settings', () => {
  test('lines come back in the order they were written, though their times are equal', () => {
    store.transaction((tx) => insertActiveRun(tx))
    const lines = [
      buildLogLine({ message: 'b' }),
      buildLogLine({ message: 'a', level: 'warn' }),
      buildLogLine({ message: 'c', data: '{"tool":"http.get"}' }),
    ]
    const run = { id: 'hr_1', scriptRunId: 'run_1', workflowId: 'wf_1' }
    store.transaction((tx) => tx.logs.append(run, lines.slice(0, 2)))
    store.transaction((tx) => tx.logs.append(run, lines.slice(2)))
    expect(store.logs.ofScriptRun('run_1')).toEqual(lines.map((line) => ({ ...line, handlerRunId: 'hr_1' })))
    expect(store.logs.ofScriptRun('run_2')).toEqual([])
  })

  test('a setting holds the value it was last given', () => {
    expect(store.settings.get('concurrency')).toBeUndefined()
    store.transaction((tx) => tx.settings.set('concurrency', '2', 1))
    store.transaction((tx) => tx.settings.set('concurrency', '3', 2))
    expect(store.settings.get('concurrency')).toBe('3')
  })
})

describe('a transaction', () => {
  test('that throws leaves nothing half-written, in any table', () => {
    store.transaction((tx) => insertActiveRun(tx))
    const before = opened.exportBytes()
    const failing = () =>
      store.transaction((tx) => {
        tx.events.publish(buildPublication({ createdByRunId: 'hr_1' }))
        tx.events.reserve(['evt_1'], 'hr_1')
        tx.handlerRuns.update('hr_1', { phase: 'prepared', prepareResult: '{}' })
        tx.mutations.insert(buildMutation())
        tx.handlerStates.setWakeAt('wf_1', 'process', 5, 1)
        tx.workflows.setBlock('wf_1', { runId: 'hr_1', kind: 'logic_failure', message: 'x' }, 2)
        throw new Error('tab died')
      })
    expect(failing).toThrow('tab died')
    expect(Buffer.compare(opened.exportBytes(), before)).toBe(0)
    expect(store.handlerRuns.get('hr_1')?.phase).toBe('preparing')
  })

  test('hands out what the work returns, and reads see what it wrote', () => {
    const seen = store.transaction((tx) => {
      insertWorkflow(tx)
      return tx.workflows.get('wf_1')?.name
    })
    expect(seen).toBe('Inbox triage')
  })

  test('is the only place to write: a writer kept for later is refused', () => {
    const kept = store.transaction((tx) => tx)
    expect(() => kept.settings.set('x', '1', 1)).toThrow(/only possible inside a transaction/)
    expect(() => kept.events.publish(buildPublication())).toThrow()
  })
})

function buildSchedule(changes: Partial<ProducerSchedule> = {}): ProducerSchedule {
  return {
    workflowId: 'wf_1',
    producerName: 'poll',
    scheduleType: 'interval',
    scheduleValue: '5m',
    timezone: null,
    nextRunAt: 100,
    lastRunAt: null,
    ...changes,
  }
}

function buildLogLine(changes: Partial<LogLine> = {}): LogLine {
  return { at: 1, phase: 'preparing', level: 'info', message: 'hello', data: null, ...changes }
}
