import { beforeEach, describe, expect, test } from 'vitest'
import type { ProducerSchedule } from '#engine/model/workflow.ts'
import type { Store } from '#engine/ports/store.ts'
import { buildSchedule, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
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
