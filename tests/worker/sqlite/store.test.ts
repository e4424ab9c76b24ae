import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { buildMutation, buildPublication, insertActiveRun, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore, type TestStore } from '../../support/open-test-store.ts'

let opened: TestStore
let store: Store
beforeEach(async () => {
  opened = await openTestStore()
  store = opened.store
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
