import { runsFor } from '#ui/features/runs/bulk-actions.ts'
import type { RunRow } from '#worker/api.ts'
import { expect, it } from 'vitest'

const run = (id: string, changes: Partial<RunRow>): RunRow => ({
  id,
  workflowId: 'wf_1',
  scriptId: 'scr_1',
  trigger: 'manual',
  result: 'completed',
  error: null,
  cost: 0,
  handlerRunCount: 1,
  startTimestamp: 0,
  endTimestamp: 1,
  workflowName: 'x',
  version: 1,
  question: null,
  ...changes,
})

it('a common action is taken only for the runs that can take it', () => {
  const rows = [
    run('open', { result: null, endTimestamp: null }),
    run('waiting', { result: 'suspended' }),
    run('asks', { result: 'failed', question: { id: 'q1', actions: ['retry', 'skip'] } }),
    run('unknown', { result: 'suspended', question: { id: 'q2', actions: ['happened', 'did_not_happen', 'skip'] } }),
    run('done', {}),
  ]
  const ids = (action: 'retry' | 'skip' | 'cancel') => runsFor(action, rows).map(({ id }) => id)
  expect(ids('retry')).toEqual(['asks'])
  expect(ids('skip')).toEqual(['asks', 'unknown'])
  expect(ids('cancel')).toEqual(['open', 'waiting'])
})
