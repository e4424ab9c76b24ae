import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
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
