import { SchedulerState } from '#engine/runtime/scheduler-state.ts'
import { expect, test } from 'vitest'

test('flags are put back as they were, those that were taken off and those that were set', () => {
  const flags = new SchedulerState(() => undefined)
  flags.markDirty('wf_1', 'consumer')
  flags.queue('wf_1', 'producer')
  const putBack = flags.remember('wf_1')
  flags.apply({ kind: 'prepare_begun', workflowId: 'wf_1', handlerName: 'consumer' })
  flags.apply({ kind: 'producer_committed', workflowId: 'wf_1', handlerName: 'producer' })
  flags.markDirty('wf_1', 'other')
  expect(flags.isDirty('wf_1', 'consumer') || flags.isQueued('wf_1', 'producer')).toBe(false)
  putBack()
  expect(flags.isDirty('wf_1', 'consumer') && flags.isQueued('wf_1', 'producer')).toBe(true)
  expect(flags.isDirty('wf_1', 'other')).toBe(false)
})

test('a workflow without flags has none again, and those of others stay', () => {
  const flags = new SchedulerState(() => undefined)
  const putBack = flags.remember('wf_1')
  flags.queue('wf_1', 'producer')
  flags.queue('wf_2', 'producer')
  putBack()
  expect([...flags.workflowIds()]).toEqual(['wf_2'])
})
