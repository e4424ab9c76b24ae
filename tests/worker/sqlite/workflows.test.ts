import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import {
  buildEscalation,
  buildLogLine,
  buildMutation,
  buildPublication,
  buildSchedule,
  buildScript,
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
    const workflow = buildWorkflow({ timezone: 'Europe/Berlin', permissions: ['demo', 'http:api.example.com'] })
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
