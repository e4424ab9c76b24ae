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
  /** When what stopped is tried again; null when nothing is to be. */
  retryAt: number | null
  pendingEvents: number
  createdAt: number
  updatedAt: number
}

export const workflowState = (
  workflow: Pick<Workflow, 'status' | 'block'>,
  isBusy: boolean,
  isAwaitingRetry: boolean,
): WorkflowState => {
  if (workflow.status !== 'active') return workflow.status
  if (workflow.block !== null) return 'needs_you'
  if (isBusy) return 'running'
  return isAwaitingRetry ? 'retrying' : 'idle'
}
