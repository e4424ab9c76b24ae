import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { buildScriptRun, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
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
