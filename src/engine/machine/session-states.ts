import type { AgentState, SessionState } from '../model/session.ts'
import type { MoveTable } from './move-table.ts'

export type SessionMove = 'started' | 'paused' | 'resumed' | 'completed' | 'failed' | 'cancelled' | 'reopened'

/**
 *   created ─▶ running ⇄ paused
 *      │         ├──────────┴─▶ cancelled
 *      │         ├─▶ completed
 *      │         └─▶ failed ──(an agent is retried)──▶ running
 *      └─▶ cancelled
 */
export const sessionTable: MoveTable<SessionState, SessionMove> = {
  subject: 'A session',
  events: ['started', 'paused', 'resumed', 'completed', 'failed', 'cancelled', 'reopened'],
  moves: {
    created: { started: 'running', cancelled: 'cancelled' },
    running: { paused: 'paused', completed: 'completed', failed: 'failed', cancelled: 'cancelled' },
    paused: { resumed: 'running', cancelled: 'cancelled' },
    completed: {},
    failed: { reopened: 'running' },
    cancelled: {},
  },
}

export type AgentMove =
  | 'started'
  | 'paused'
  | 'resumed'
  | 'blocked'
  | 'unblocked'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'skipped'
  | 'retried'

/**
 * A paused agent can still fail or need the user: the phase it was in when it was paused goes on to its end. What never started
 * because of somebody else's failure gets its chance again when that one is retried.
 */
export const agentTable: MoveTable<AgentState, AgentMove> = {
  subject: 'An agent',
  events: [
    'started',
    'paused',
    'resumed',
    'blocked',
    'unblocked',
    'completed',
    'failed',
    'cancelled',
    'skipped',
    'retried',
  ],
  moves: {
    pending: { started: 'running', cancelled: 'cancelled', skipped: 'skipped' },
    running: {
      paused: 'paused',
      blocked: 'blocked',
      completed: 'completed',
      failed: 'failed',
      cancelled: 'cancelled',
    },
    paused: { resumed: 'running', blocked: 'blocked', failed: 'failed', cancelled: 'cancelled' },
    blocked: { unblocked: 'running', cancelled: 'cancelled' },
    completed: {},
    failed: { retried: 'pending' },
    cancelled: {},
    skipped: { retried: 'pending' },
  },
}

/** Started and not over: these count against `max_parallel`, also while they wait for a person. */
export const isUnderWay = (state: AgentState): boolean =>
  state === 'running' || state === 'paused' || state === 'blocked'

export const isFinished = (state: SessionState): boolean =>
  state === 'completed' || state === 'failed' || state === 'cancelled'
