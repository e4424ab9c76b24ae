import { planSession } from '../../machine/session-plan.ts'
import { isFinished, isUnderWay } from '../../machine/session-states.ts'
import { engineError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import type { FailurePolicy, Session, SessionAgent, SessionStrategy } from '../../model/session.ts'
import type { WorkflowConfig } from '../../model/workflow.ts'
import type { AgentDraft } from '../../machine/session-checks.ts'
import { limitsKey } from '../workflow-limits.ts'
import { advanceSession, cancelAgent, hasWorkToFinish, isBeyondRecall, workflowOf } from './agents.ts'
import type { Transition } from './context.ts'
import { must, mustExist } from './context.ts'
import { cancelAttempt } from './failure.ts'
import { moveAgent, moveSession, recordSessionEvent } from './session-moves.ts'
import { createPrivateWorkflow } from './workflows.ts'

export interface SessionDraft {
  objective: string
  strategy: SessionStrategy
  onFailure: FailurePolicy
  maxParallel: number | null
  metadata: JsonObject
  agents: readonly CheckedAgent[]
}

/** An agent whose script was validated: what it needs to know of it comes along. */
export interface CheckedAgent extends AgentDraft {
  config: WorkflowConfig
}

export const createSession = (transition: Transition, draft: SessionDraft): Session => {
  const { tx, now, ids } = transition
  const session: Session = {
    id: ids.next('sess'),
    objective: draft.objective,
    strategy: draft.strategy,
    state: 'created',
    onFailure: draft.onFailure,
    maxParallel: draft.maxParallel,
    agentCount: draft.agents.length,
    completedAgents: 0,
    failedAgents: 0,
    metadata: draft.metadata,
    errorMessage: null,
    createdAt: now,
    startedAt: null,
    completedAt: null,
    restoredAt: null,
  }
  tx.sessions.insert(session)
  recordSessionEvent(transition, session.id, 'session_created', null, {
    objective: session.objective,
    strategy: session.strategy,
    agentCount: session.agentCount,
  })
  const instances = new Map<string, number>()
  for (const [position, agent] of draft.agents.entries()) {
    const instance = (instances.get(agent.role) ?? 0) + 1
    instances.set(agent.role, instance)
    insertAgent(transition, session.id, agent, position, instance)
  }
  return session
}

/** The script is pinned here: the agent's own workflow gets a copy of it as its first version. */
const insertAgent = (
  transition: Transition,
  sessionId: string,
  draft: CheckedAgent,
  position: number,
  instance: number,
): SessionAgent => {
  const { tx, now, ids } = transition
  const agent: SessionAgent = {
    id: ids.next(`agent_${draft.role}_${String(instance)}`),
    sessionId,
    key: draft.key,
    role: draft.role,
    instance,
    position,
    task: draft.task,
    state: 'pending',
    dependencies: [...draft.dependsOn],
    stage: draft.stage,
    workflowId: createPrivateWorkflow(transition, sessionId, draft),
    runId: null,
    exitCode: null,
    output: null,
    errorMessage: null,
    createdAt: now,
    startedAt: null,
    completedAt: null,
  }
  tx.sessionAgents.insert(agent)
  return agent
}

export const addAgent = (transition: Transition, sessionId: string, draft: CheckedAgent): Result<SessionAgent> => {
  const { tx } = transition
  const found = findSession(transition, sessionId)
  if (!found.ok) return found
  const session = found.value
  if (isFinished(session.state)) {
    return refuse(`"${session.objective}" is ${session.state}: agents can be added only before it is finished.`)
  }
  const others = tx.sessionAgents.planOf(sessionId)
  const instance = others.filter(({ role }) => role === draft.role).length + 1
  const position = Math.max(-1, ...others.map((other) => other.position)) + 1
  const agent = insertAgent(transition, sessionId, draft, position, instance)
  tx.sessions.update(sessionId, { agentCount: session.agentCount + 1 })
  recordSessionEvent(transition, sessionId, 'agent_added', agent.id, { key: agent.key, role: agent.role })
  advanceSession(transition, sessionId)
  return ok(agent)
}

export const startSession = (transition: Transition, id: string): Result<Session> => {
  const found = findSession(transition, id)
  if (!found.ok) return found
  const moved = moveSession(transition, found.value, 'started', { startedAt: transition.now })
  if (moved.ok) advanceSession(transition, id)
  return moved
}

/** What is in the middle of a phase comes to the end of it; then the paused workflow keeps it from going on. */
export const pauseSession = (transition: Transition, id: string): Result<Session> => {
  const { tx, now } = transition
  const found = findSession(transition, id)
  if (!found.ok) return found
  const moved = moveSession(transition, found.value, 'paused')
  if (!moved.ok) return moved
  for (const agent of tx.sessionAgents.planOf(id)) {
    if (!isUnderWay(agent.state)) continue
    tx.workflows.setStatus(workflowOf(tx, agent).id, 'paused', now)
    if (agent.state === 'running') moveAgent(transition, id, agent, 'paused')
  }
  return moved
}

export const resumeSession = (transition: Transition, id: string): Result<Session> => {
  const { tx, now, note } = transition
  const found = findSession(transition, id)
  if (!found.ok) return found
  const moved = moveSession(transition, found.value, 'resumed')
  if (!moved.ok) return moved
  for (const agent of tx.sessionAgents.planOf(id)) {
    if (!isUnderWay(agent.state)) continue
    const workflow = workflowOf(tx, agent)
    tx.workflows.setStatus(workflow.id, 'active', now)
    note({ kind: 'resumed', workflowId: workflow.id })
    if (agent.state === 'paused') moveAgent(transition, id, agent, 'resumed')
  }
  advanceSession(transition, id)
  return moved
}

export const cancelSession = (transition: Transition, id: string): Result<Session> => {
  const { tx, now } = transition
  const found = findSession(transition, id)
  if (!found.ok) return found
  const moved = moveSession(transition, found.value, 'cancelled', { completedAt: now })
  if (!moved.ok) return moved
  for (const agent of tx.sessionAgents.ofSession(id)) {
    if (agent.state === 'pending') cancelAgent(transition, agent)
    else if (isUnderWay(agent.state)) cancelUnderWay(transition, agent)
  }
  return moved
}

/** Before the boundary everything is given back at once; what is past it, or may be, finishes first. */
const cancelUnderWay = (transition: Transition, agent: SessionAgent): void => {
  const { tx, now, note } = transition
  const workflow = workflowOf(tx, agent)
  const active = tx.handlerRuns.activeOf(workflow.id)
  if (active !== undefined && !isBeyondRecall(tx, active)) must(cancelAttempt(transition, active.id, sessionCancelled))
  const blocking = workflow.block === null ? undefined : tx.handlerRuns.get(workflow.block.runId)
  if (blocking !== undefined && !isBeyondRecall(tx, blocking)) {
    const question = tx.escalations.openOfHandlerRun(blocking.id)
    if (question !== undefined) tx.escalations.resolve(question.id, 'skip', null, now)
    tx.workflows.setBlock(workflow.id, null, now)
  }
  if (!hasWorkToFinish(tx, mustExist(tx.workflows.get(workflow.id), `Workflow ${workflow.id}`))) {
    cancelAgent(transition, agent)
    return
  }
  if (workflow.status !== 'active') tx.workflows.setStatus(workflow.id, 'active', now)
  if (agent.state === 'paused') moveAgent(transition, agent.sessionId, agent, 'resumed')
  note({ kind: 'resumed', workflowId: workflow.id })
}

const sessionCancelled = 'The session was cancelled.'

/** Only what failed can be retried. What was skipped because of it gets its chance again. */
export const retryAgent = (transition: Transition, sessionId: string, agentId: string): Result<SessionAgent> => {
  const { tx } = transition
  const found = findSession(transition, sessionId)
  if (!found.ok) return found
  const agents = tx.sessionAgents.ofSession(sessionId)
  const agent = agents.find(({ id, key }) => id === agentId || key === agentId)
  if (agent === undefined) {
    return err(engineError('not_found', `"${found.value.objective}" has no agent "${agentId}".`))
  }
  if (agent.state !== 'failed') {
    return refuse(`The agent "${agent.key}" is ${agent.state}: only a failed agent can be retried.`)
  }
  let session = found.value
  if (session.state === 'cancelled') {
    return refuse(`"${session.objective}" was cancelled: nothing of it can be retried. Clone it to run it again.`)
  }
  if (session.state === 'failed') {
    const reopened = moveSession(transition, session, 'reopened', { completedAt: null, errorMessage: null })
    if (!reopened.ok) return reopened
    session = reopened.value
  }
  const waiting = { exitCode: null, errorMessage: null, completedAt: null }
  moveAgent(transition, sessionId, agent, 'retried', waiting)
  tx.sessions.update(sessionId, { failedAgents: session.failedAgents - 1 })
  for (const skipped of revived(session, agents, agent)) {
    moveAgent(transition, sessionId, skipped, 'retried', waiting)
  }
  advanceSession(transition, sessionId)
  return ok(agent)
}

const revived = (session: Session, agents: readonly SessionAgent[], retried: SessionAgent): SessionAgent[] => {
  const hopeful = agents.map((agent) =>
    agent.state === 'skipped' || agent === retried ? { ...agent, state: 'pending' as const } : agent,
  )
  const stillDoomed = new Set(planSession(session, hopeful).skip.map(({ key }) => key))
  const isStillStopping = session.onFailure === 'stop' && hopeful.some(({ state }) => state === 'failed')
  return isStillStopping ? [] : agents.filter(({ key, state }) => state === 'skipped' && !stillDoomed.has(key))
}

export const deleteSession = (transition: Transition, id: string): Result<void> => {
  const { tx, note } = transition
  const session = tx.sessions.get(id)
  if (session === undefined) return err(unknownSession(id))
  const agents = tx.sessionAgents.planOf(id)
  if (session.state === 'running' || session.state === 'paused' || agents.some(({ state }) => isUnderWay(state))) {
    return refuse(`"${session.objective}" is still ${session.state}. Cancel it and let it come to its end first.`)
  }
  tx.sessions.delete(id)
  const archive = tx.archives.ofSubject(id)
  if (archive !== undefined) tx.archives.setPlace(archive.id, { isPutAway: true, restoredAt: null })
  for (const { workflowId } of agents) {
    if (workflowId === null) continue
    tx.settings.remove(limitsKey(workflowId))
    note({ kind: 'deleted', workflowId })
  }
  note({ kind: 'session_changed', sessionId: id, agentId: null })
  return ok(undefined)
}

/** For commands that change something: what came back from an archive can only be looked at. */
const findSession = ({ tx }: Transition, id: string): Result<Session> => {
  const session = tx.sessions.get(id)
  if (session === undefined) return err(unknownSession(id))
  if (session.restoredAt === null && tx.archives.ofSubject(id) === undefined) return ok(session)
  if (session.restoredAt === null) {
    return err(engineError('read_only', `"${session.objective}" is just being put into the archive.`))
  }
  return err(
    engineError(
      'read_only',
      `"${session.objective}" was brought back from the archive and can only be looked at. Clone it to run it again.`,
    ),
  )
}

export const unknownSession = (id: string) => engineError('not_found', `There is no session "${id}".`)

const refuse = (message: string) => err(engineError('illegal_transition', message))
