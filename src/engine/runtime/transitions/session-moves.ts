import { decideMove } from '../../machine/move-table.ts'
import type { AgentMove, SessionMove } from '../../machine/session-states.ts'
import { agentTable, sessionTable } from '../../machine/session-states.ts'
import { engineError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import type { Session, SessionAgent, SessionEventType } from '../../model/session.ts'
import type { AgentPatch, SessionPatch } from '../../ports/store.ts'
import type { Transition } from './context.ts'
import { must } from './context.ts'

/** Every move of a session or an agent leaves a line in the audit trail, in the same transaction. */
export const recordSessionEvent = (
  { tx, now, note }: Transition,
  sessionId: string,
  eventType: SessionEventType,
  agentId: string | null,
  data: JsonObject = {},
): void => {
  tx.sessionEvents.append({ sessionId, timestamp: now, eventType, agentId, data })
  note({ kind: 'session_changed', sessionId, agentId })
}

const sessionEventOf: Readonly<Record<SessionMove, SessionEventType>> = {
  started: 'session_started',
  paused: 'session_paused',
  resumed: 'session_resumed',
  completed: 'session_completed',
  failed: 'session_failed',
  cancelled: 'session_cancelled',
  reopened: 'session_resumed',
}

/** Refused with a sentence when a person asked for something that does not follow. */
export const moveSession = (
  transition: Transition,
  session: Session,
  move: SessionMove,
  patch: Omit<SessionPatch, 'state'> = {},
  data: JsonObject = {},
): Result<Session> => {
  const state = decideMove(sessionTable, session.state, move)
  if (!state.ok) {
    return err(engineError('illegal_transition', `"${session.objective}": ${state.error.message}`))
  }
  const changed = { ...patch, state: state.value }
  transition.tx.sessions.update(session.id, changed)
  recordSessionEvent(transition, session.id, sessionEventOf[move], null, data)
  return ok({ ...session, ...changed })
}

const agentEventOf: Readonly<Record<AgentMove, SessionEventType>> = {
  started: 'agent_started',
  paused: 'agent_paused',
  resumed: 'agent_resumed',
  blocked: 'agent_blocked',
  unblocked: 'agent_unblocked',
  completed: 'agent_completed',
  failed: 'agent_failed',
  cancelled: 'agent_cancelled',
  skipped: 'agent_skipped',
  retried: 'agent_retried',
}

/** The engine itself chose the move: refusing it is a bug of ours. */
export const moveAgent = (
  transition: Transition,
  sessionId: string,
  agent: Pick<SessionAgent, 'id' | 'key' | 'role' | 'state'>,
  move: AgentMove,
  patch: Omit<AgentPatch, 'state'> = {},
  data: JsonObject = {},
): void => {
  const state = must(decideMove(agentTable, agent.state, move))
  transition.tx.sessionAgents.update(agent.id, { ...patch, state })
  recordSessionEvent(transition, sessionId, agentEventOf[move], agent.id, { key: agent.key, role: agent.role, ...data })
}
