import type { EscalationAction } from '#engine/model/escalation.ts'
import type { RunRow } from '#worker/api.ts'

export type BulkAction = 'retry' | 'skip' | 'cancel'

/**
 * A retry or a skip settles the question that a run asks. Only a run that goes on or waits can be cancelled, and not when it may
 * have changed something outside.
 */
export function runsFor(action: BulkAction, rows: readonly RunRow[]): RunRow[] {
  if (action === 'cancel') return rows.filter(isCancellable)
  const settling: Record<Exclude<BulkAction, 'cancel'>, EscalationAction> = { retry: 'retry', skip: 'skip' }
  const wanted = settling[action]
  return rows.filter(({ question }) => question?.actions.includes(wanted) ?? false)
}

const isCancellable = ({ result, question }: RunRow): boolean =>
  (result === null || result === 'suspended') && !question?.actions.includes('happened')
