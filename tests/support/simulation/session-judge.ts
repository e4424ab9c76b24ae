import { decideMove } from '#engine/machine/move-table.ts'
import {
  agentTable,
  isUnderWay,
  sessionTable,
  type AgentMove,
  type SessionMove,
} from '#engine/machine/session-states.ts'
import type { Result } from '#engine/model/result.ts'
import type { AgentState, SessionState } from '#engine/model/session.ts'
import type { Tab } from './tab.ts'

interface Replayed {
  state: AgentState
  wasStarted: boolean
  dependencies: readonly string[]
  stage: number
}

const sessionMoves: Readonly<Record<string, SessionMove>> = {
  session_started: 'started',
  session_paused: 'paused',
  session_resumed: 'resumed',
  session_completed: 'completed',
  session_failed: 'failed',
  session_cancelled: 'cancelled',
}

/** Tells the story of a session again from its audit trail, and says where it went against the rules. */
export const judgeStory = ({ store }: Tab, sessionId: string): string[] => {
  const session = store.sessions.get(sessionId)
  if (session === undefined) return [`session ${sessionId} is lost`]
  const problems: string[] = []
  const rows = store.sessionAgents.ofSession(sessionId)
  const keyOf = new Map(rows.map(({ id, key }) => [id, key]))
  const agents = new Map<string, Replayed>(
    rows.map(({ key, dependencies, stage }) => [
      key,
      { state: 'pending', wasStarted: false, dependencies, stage: stage ?? 0 },
    ]),
  )
  let state = 'created' as SessionState

  const expectLegalStart = (key: string, agent: Replayed): void => {
    const others = [...agents.values()]
    const complain = (why: string): void => void problems.push(`${key} was started ${why}`)
    if (state !== 'running') complain(`while the session was ${state}`)
    if (agent.dependencies.some((needed) => agents.get(needed)?.state !== 'completed')) complain('before what it needs')
    const underWay = others.filter((other) => isUnderWay(other.state)).length
    if (session.strategy === 'sequential' && underWay > 0) complain('beside another in a sequence')
    if (session.maxParallel !== null && underWay >= session.maxParallel) complain('beyond the limit')
    if (
      session.strategy === 'pipeline' &&
      others.some((other) => other.stage < agent.stage && other.state !== 'completed')
    )
      complain('before the stage before it')
    const isStopping = session.onFailure === 'stop' && others.some((other) => other.state === 'failed')
    if (isStopping && !agent.wasStarted) complain('after a failure that stops the session')
  }

  for (const { eventType, agentId } of store.sessionEvents.after(sessionId, 0, 100_000)) {
    const move = sessionMoves[eventType]
    if (move !== undefined) {
      // A failed session goes on when one of its agents is retried.
      const next: Result<SessionState> = decideMove(
        sessionTable,
        state,
        move === 'resumed' && state === 'failed' ? 'reopened' : move,
      )
      if (next.ok) state = next.value
      else problems.push(`the session was ${state} and ${eventType}`)
    }
    const key = keyOf.get(agentId ?? '')
    const agent = agents.get(key ?? '')
    const agentMove = /^agent_(.+)$/.exec(eventType)?.[1] as AgentMove | undefined
    if (key === undefined || agent === undefined || !agentTable.events.includes(agentMove ?? 'started')) continue
    if (agentMove === undefined) continue
    if (agentMove === 'started') expectLegalStart(key, agent)
    const next = decideMove(agentTable, agent.state, agentMove)
    if (next.ok)
      agents.set(key, { ...agent, state: next.value, wasStarted: agent.wasStarted || agentMove === 'started' })
    else problems.push(`agent ${key} was ${agent.state} and ${eventType}`)
  }
  for (const { key, state: written } of rows) {
    const told = agents.get(key)?.state
    if (told !== written) problems.push(`agent ${key} is ${written}, but its story ends with ${String(told)}`)
  }
  if (state !== session.state) problems.push(`the session is ${session.state}, but its story ends with ${state}`)
  return problems
}

/** With calm weather and all questions answered, everything has come to an end that fits. */
export const judgeEnd = ({ store, database }: Tab, sessionId: string): string[] => {
  const session = store.sessions.get(sessionId)
  const agents = store.sessionAgents.ofSession(sessionId)
  const states = agents.map(({ state }) => state)
  const problems: string[] = []
  if ((session?.completedAt ?? null) === null)
    problems.push(`the session is still ${String(session?.state)}: ${states.join(', ')}`)
  if (states.some(isUnderWay)) problems.push(`agents are still under way: ${states.join(', ')}`)
  if (session?.state === 'failed' && !states.includes('failed')) problems.push('it failed and none of its agents did')
  for (const { key, state, output, workflowId } of agents) {
    const wasSkipped = store.escalations
      .list({ workflowId: workflowId ?? '' })
      .some(({ resolution }) => resolution === 'skip')
    if (state === 'completed' && output === null && !wasSkipped)
      problems.push(`${key} completed without the output it handed in`)
  }
  const left = database.all(
    `SELECT 'handler run ' || id || ' is still active' AS problem FROM handler_runs WHERE status = 'active'
     UNION ALL SELECT 'handler run ' || id || ' still waits for its retry' FROM handler_runs WHERE retry_at IS NOT NULL
     UNION ALL SELECT 'escalation ' || id || ' is still open' FROM escalations WHERE resolved_at IS NULL`,
  )
  return [...problems, ...left.map((row) => String(row['problem']))]
}
