import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { buildLogLine, insertActiveRun } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
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
