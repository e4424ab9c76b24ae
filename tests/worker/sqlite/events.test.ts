import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { buildHandlerRun, buildPublication, insertActiveRun, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore, type TestStore } from '../../support/open-test-store.ts'

let opened: TestStore
let store: Store
beforeEach(async () => {
  opened = await openTestStore()
  store = opened.store
})

const countRows = (table: string) => Number(opened.database.get(`SELECT count(*) AS n FROM ${table}`)?.['n'])

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
