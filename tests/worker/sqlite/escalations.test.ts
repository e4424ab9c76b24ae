import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import {
  buildEscalation,
  buildHandlerRun,
  buildScriptRun,
  insertActiveRun,
  insertWorkflow,
} from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
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
