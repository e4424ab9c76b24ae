import type { HandlerRun } from '../model/handler-run.ts'
import type { Block, Workflow, WorkflowStatus } from '../model/workflow.ts'

/** Status and block as one word for people (1.8). */
export const workflowStates = ['draft', 'running', 'idle', 'retrying', 'needs_you', 'paused', 'archived'] as const
export type WorkflowState = (typeof workflowStates)[number]

export interface WorkflowView {
  id: string
  name: string
  status: WorkflowStatus
  state: WorkflowState
  block: Block | null
  version: number
  permissions: string[]
  nextWakeAt: number | null
  pendingEvents: number
}

export const workflowState = (
  workflow: Pick<Workflow, 'status' | 'block'>,
  isBusy: boolean,
  awaitingRetry: readonly Pick<HandlerRun, 'retryAt'>[],
): WorkflowState => {
  if (workflow.status !== 'active') return workflow.status
  if (workflow.block !== null) return 'needs_you'
  if (isBusy) return 'running'
  return awaitingRetry.length > 0 ? 'retrying' : 'idle'
}
