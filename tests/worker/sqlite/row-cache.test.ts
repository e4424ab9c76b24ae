import type { StoreWrites } from '#engine/ports/store.ts'
import { replaceDatabase } from '#worker/sqlite/open-database.ts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { buildHandlerRun, insertActiveRun } from '../../support/build-rows.ts'
import { loadSqlJs, openTestStore, type TestStore } from '../../support/open-test-store.ts'

let opened: TestStore
beforeEach(async () => {
  opened = await openTestStore()
  opened.store.transaction((tx) => insertActiveRun(tx))
})

const run = () => opened.store.handlerRuns.get('hr_1')
const moveTo = (phase: 'preparing' | 'prepared') => (tx: StoreWrites) => tx.handlerRuns.update('hr_1', { phase })

describe('a row that is kept in memory', () => {
  it('is not read again while nothing is written to its table', () => {
    run()
    const get = vi.spyOn(opened.database, 'get')
    expect(run()?.id).toBe('hr_1')
    opened.store.transaction((tx) => tx.settings.set('a', '1', 0))
    run()
    expect(get).not.toHaveBeenCalled()
  })

  it('is as it was written, like one that is read from the file', async () => {
    run()
    opened.store.transaction(moveTo('preparing'))
    const again = await openTestStore(opened.exportBytes())
    expect(run()?.phase).toBe('preparing')
    expect(run()).toEqual(again.store.handlerRuns.get('hr_1'))
  })

  it('is known from the moment it is inserted, and the others stay known', async () => {
    run()
    const get = vi.spyOn(opened.database, 'get')
    opened.store.transaction((tx) =>
      tx.handlerRuns.insert(
        buildHandlerRun({ id: 'hr_2', phase: 'committed', status: 'committed', endTimestamp: 2, prepareResult: '{}' }),
      ),
    )
    expect([run()?.id, opened.store.handlerRuns.get('hr_2')?.id]).toEqual(['hr_1', 'hr_2'])
    expect(get).not.toHaveBeenCalled()
    const again = await openTestStore(opened.exportBytes())
    expect(opened.store.handlerRuns.get('hr_2')).toEqual(again.store.handlerRuns.get('hr_2'))
  })

  it('goes back with a transaction that is rolled back', () => {
    const before = run()
    const fail = (tx: StoreWrites) => {
      moveTo('preparing')(tx)
      expect(run()?.phase).toBe('preparing')
      throw new Error('no')
    }
    expect(() => opened.store.transaction(fail)).toThrow('no')
    expect(run()).toEqual(before)
  })

  it('goes with the row that it belongs to', () => {
    run()
    opened.store.transaction((tx) => tx.workflows.delete('wf_1'))
    expect(run()).toBeUndefined()
  })

  it('goes with the file that is replaced', async () => {
    const empty = (await openTestStore()).exportBytes()
    run()
    expect(replaceDatabase(opened.database, await loadSqlJs(), empty).ok).toBe(true)
    expect(run()).toBeUndefined()
  })
})

describe('a planned time that is kept in memory', () => {
  const nextRetryAt = (after: number) => opened.store.handlerRuns.nextRetryAt(after)
  const stop = (retryAt: number) => (tx: StoreWrites) => {
    const failed = { error: 'no', errorType: 'network', endTimestamp: 9 } as const
    tx.handlerRuns.update('hr_1', { status: 'paused:transient', retryAt, ...failed })
  }

  it('is not asked for again while no time of its table is written and it has not come', () => {
    opened.store.transaction(stop(20))
    expect(nextRetryAt(5)).toBe(20)
    const get = vi.spyOn(opened.database, 'get')
    opened.store.transaction((tx) => tx.handlerRuns.update('hr_1', { cost: 1 }))
    expect(nextRetryAt(19)).toBe(20)
    expect(get).not.toHaveBeenCalled()
  })

  it('is asked for again once it has come, or when the clock was set back', () => {
    opened.store.transaction(stop(20))
    expect(nextRetryAt(5)).toBe(20)
    expect(nextRetryAt(20)).toBeNull()
    expect(nextRetryAt(19)).toBe(20)
  })

  it('is another one as soon as an earlier one is planned', () => {
    opened.store.transaction(stop(20))
    expect(nextRetryAt(5)).toBe(20)
    opened.store.transaction((tx) => tx.handlerRuns.update('hr_1', { retryAt: 10 }))
    expect(nextRetryAt(5)).toBe(10)
  })
})
