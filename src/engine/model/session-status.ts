import type { AgentState, Session, SessionAgent } from './session.ts'

/** How many agents of a role there are, and how many of them in each state. */
export type RoleStats = Record<AgentState | 'total', number>

/** A session as somebody watches it. */
export interface SessionStatus {
  session: Session
  /** In the order of their positions. */
  agents: readonly SessionAgent[]
  /** Completed ÷ total, 0 to 1. */
  progress: number
  roles: Record<string, RoleStats>
  /** Null when there is nothing to estimate from; `estimateNote` says why. */
  estimatedCompletionAt: number | null
  estimateNote: string | null
  /** Integer micro-units. */
  cost: number
  /** Since it was started; null before that. */
  elapsedMs: number | null
}
