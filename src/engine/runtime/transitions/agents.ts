import { isPastBoundary } from '../../machine/phases.ts'
import { nameAgents, planSession } from '../../machine/session-plan.ts'
import type { EscalationKind } from '../../model/escalation.ts'
import type { HandlerRun } from '../../model/handler-run.ts'
import type { Session, SessionAgent } from '../../model/session.ts'
import type { Workflow, WorkflowConfig } from '../../model/workflow.ts'
import type { AgentInPlan, StoreReads } from '../../ports/store.ts'
import { parseWorkflowConfig } from '../../script/config.ts'
import type { Transition } from './context.ts'
import { must, mustExist } from './context.ts'
import { publishEvents } from './events.ts'
import { openScriptRun } from './script-runs.ts'
import { moveAgent, moveSession } from './session-moves.ts'
import { putSchedules } from './workflows.ts'

/** The topic on which an agent gets its one start event, if its script has it. */
const taskTopic = 'task'
const longestTitle = 200

/** Starts, skips and ends whatever follows from the states of the agents. Asked after every move; does nothing twice. */
export const advanceSession = (transition: Transition, sessionId: string): void => {
  const { tx, now } = transition
  const session = mustExist(tx.sessions.get(sessionId), `Session ${sessionId}`)
  if (session.state !== 'running') return
  const agents = tx.sessionAgents.planOf(sessionId)
  const byKey = new Map(agents.map((agent) => [agent.key, agent]))
  const plan = planSession(session, agents)
  for (const { key, because } of plan.skip) {
    const agent = mustExist(byKey.get(key), `Agent ${key}`)
    moveAgent(transition, sessionId, agent, 'skipped', { errorMessage: because, completedAt: now }, { because })
  }
  for (const key of plan.start) startAgent(transition, sessionId, mustExist(byKey.get(key), `Agent ${key}`))
  if (plan.end === null) return
  const errorMessage = plan.end === 'failed' ? failureSentence(agents) : null
  must(moveSession(transition, session, plan.end, { completedAt: now, errorMessage }))
}

const failureSentence = (agents: readonly AgentInPlan[]): string => {
  const failed = agents.filter(({ state }) => state === 'failed').map(({ key }) => key)
  return `${String(failed.length)} of ${String(agents.length)} agents failed: ${nameAgents(failed)}.`
}

const startAgent = (transition: Transition, sessionId: string, planned: AgentInPlan): void => {
  const { tx, now, note } = transition
  const agent = mustExist(tx.sessionAgents.get(planned.id), `Agent ${planned.id}`)
  const workflow = workflowOf(tx, agent)
  const config = parseWorkflowConfig(workflow.handlerConfig)
  tx.workflows.setStatus(workflow.id, 'active', now)
  const runId = agent.startedAt === null ? beginTask(transition, agent, workflow, config) : agent.runId
  if (agent.startedAt !== null) retryWhatStopped(transition, workflow)
  note({ kind: 'deployed', workflowId: workflow.id, consumers: Object.keys(config.consumers) })
  moveAgent(transition, sessionId, agent, 'started', { runId, startedAt: agent.startedAt ?? now }, { runId })
}

const beginTask = (transition: Transition, agent: SessionAgent, workflow: Workflow, config: WorkflowConfig): string => {
  putSchedules(transition, workflow.id, config.producers)
  if (config.topics.includes(taskTopic)) {
    const draft = {
      topic: taskTopic,
      messageId: agent.id,
      title: (typeof agent.task === 'string' ? agent.task : JSON.stringify(agent.task)).slice(0, longestTitle),
      payload: JSON.stringify({ task: agent.task, key: agent.key, role: agent.role }),
    }
    publishEvents(transition, workflow.id, [draft], { createdByRunId: null, causedBy: [] })
  }
  return openScriptRun(transition, workflow, 'session').id
}

/** Under the boundary rule, like any other retry. */
const retryWhatStopped = ({ tx, now }: Transition, workflow: Workflow): void => {
  const stopped = tx.handlerRuns.lastStopped(workflow.id)
  if (stopped !== undefined) tx.handlerRuns.update(stopped.id, { retryAt: now })
}

/**
 * An attempt of this workflow stopped, and an ordinary workflow would ask the user. For an agent the policy of its session
 * decides; but whether a mutation happened is a question that no policy can answer.
 */
export const mustAskPerson = (
  transition: Transition,
  run: HandlerRun,
  kind: EscalationKind,
  message: string,
): boolean => {
  const { tx } = transition
  const agent = tx.sessionAgents.ofWorkflow(run.workflowId)
  if (agent === undefined) return true
  const session = mustExist(tx.sessions.get(agent.sessionId), `Session ${agent.sessionId}`)
  const isQuestion = kind === 'indeterminate_mutation'
  if (session.state === 'cancelled' && !isPastBoundary(run) && !isQuestion) {
    cancelAgent(transition, agent)
    return false
  }
  if (session.onFailure === 'ask' || isQuestion) {
    moveAgent(transition, session.id, agent, 'blocked', { errorMessage: message }, { kind, message })
    return true
  }
  failAgent(transition, session, agent, message)
  return false
}

const failAgent = (transition: Transition, session: Session, agent: SessionAgent, message: string): void => {
  const { tx, now } = transition
  moveAgent(
    transition,
    session.id,
    agent,
    'failed',
    { exitCode: 1, errorMessage: message, completedAt: now },
    { exitCode: 1, message },
  )
  tx.sessions.update(session.id, { failedAgents: session.failedAgents + 1 })
  tx.workflows.setStatus(workflowOf(tx, agent).id, 'paused', now)
  advanceSession(transition, session.id)
}

/** The question that an agent was blocked by has been answered. */
export const unblockAgent = (transition: Transition, workflowId: string): void => {
  const { tx } = transition
  const agent = tx.sessionAgents.ofWorkflow(workflowId)
  if (agent?.state !== 'blocked') return
  moveAgent(transition, agent.sessionId, agent, 'unblocked', { errorMessage: null })
  if (tx.sessions.get(agent.sessionId)?.state === 'paused') {
    moveAgent(transition, agent.sessionId, { ...agent, state: 'running' }, 'paused')
  }
}

/** Nothing of the agent's workflow can run right now: it is done, or it waits for a time, a message or a person. */
export const settleAgent = (transition: Transition, workflowId: string): void => {
  const { tx } = transition
  const agent = tx.sessionAgents.ofWorkflow(workflowId)
  if (agent?.state !== 'running') return
  const session = mustExist(tx.sessions.get(agent.sessionId), `Session ${agent.sessionId}`)
  const workflow = workflowOf(tx, agent)
  if (session.state === 'cancelled') {
    if (!hasWorkToFinish(tx, workflow)) cancelAgent(transition, agent)
  } else if (isAtRest(tx, workflow)) completeAgent(transition, session, agent)
}

/** Its run is over, and nothing is pending: no event somebody subscribes to, no retry, no wake time, no question. */
const isAtRest = (tx: StoreReads, workflow: Workflow): boolean => {
  if (workflow.status !== 'active' || workflow.block !== null) return false
  if (tx.scriptRuns.openOf(workflow.id) !== undefined || tx.handlerRuns.activeOf(workflow.id) !== undefined)
    return false
  if (tx.handlerRuns.awaitingRetry(workflow.id).length > 0) return false
  if (tx.handlerStates.forWorkflow(workflow.id).some(({ wakeAt }) => wakeAt !== null)) return false
  const { consumers } = parseWorkflowConfig(workflow.handlerConfig)
  const subscribed = new Set(Object.values(consumers).flatMap(({ subscribe }) => subscribe))
  return !tx.events.pendingByTopic([workflow.id]).some(({ topic }) => subscribed.has(topic))
}

const completeAgent = (transition: Transition, session: Session, agent: SessionAgent): void => {
  const { tx, now } = transition
  moveAgent(transition, session.id, agent, 'completed', { exitCode: 0, completedAt: now }, { exitCode: 0 })
  tx.sessions.update(session.id, { completedAgents: session.completedAgents + 1 })
  putAway(transition, workflowOf(tx, agent))
  advanceSession(transition, session.id)
}

/** What crossed the boundary, or may have, is carried to its end also in a session that was cancelled. */
export const hasWorkToFinish = (tx: StoreReads, workflow: Workflow): boolean => {
  const active = tx.handlerRuns.activeOf(workflow.id)
  if (active !== undefined && isBeyondRecall(tx, active)) return true
  if (tx.handlerRuns.awaitingRetry(workflow.id).some(isPastBoundary)) return true
  const blocking = workflow.block === null ? undefined : tx.handlerRuns.get(workflow.block.runId)
  return blocking !== undefined && isBeyondRecall(tx, blocking)
}

/** Past the boundary, or with a mutation on its way or in doubt. */
export const isBeyondRecall = (tx: StoreReads, run: HandlerRun): boolean => {
  if (isPastBoundary(run)) return true
  const status = run.handlerType === 'consumer' ? tx.mutations.ofHandlerRun(run.id)?.status : undefined
  return status === 'in_flight' || (status === 'indeterminate' && run.status === 'paused:reconciliation')
}

export const cancelAgent = (transition: Transition, agent: SessionAgent): void => {
  const { tx, now } = transition
  const workflow = agent.workflowId === null ? undefined : tx.workflows.get(agent.workflowId)
  if (workflow !== undefined && workflow.status !== 'draft') {
    for (const { id } of tx.handlerRuns.awaitingRetry(workflow.id)) tx.handlerRuns.update(id, { retryAt: null })
    const open = tx.scriptRuns.openOf(workflow.id)
    if (open !== undefined) tx.scriptRuns.close(open.id, 'cancelled', null, now)
    putAway(transition, workflow)
  }
  moveAgent(transition, agent.sessionId, agent, 'cancelled', { completedAt: now })
}

/** A finished agent's workflow is kept to be looked at; nothing of it shall come due any more. */
const putAway = ({ tx, now }: Transition, workflow: Workflow): void => {
  for (const { producerName } of tx.producerSchedules.forWorkflow(workflow.id)) {
    tx.producerSchedules.remove(workflow.id, producerName)
  }
  for (const { handlerName, wakeAt } of tx.handlerStates.forWorkflow(workflow.id)) {
    if (wakeAt !== null) tx.handlerStates.setWakeAt(workflow.id, handlerName, null, now)
  }
  tx.workflows.setStatus(workflow.id, 'archived', now)
}

export const workflowOf = (tx: StoreReads, agent: Pick<SessionAgent, 'id' | 'workflowId'>): Workflow =>
  mustExist(agent.workflowId === null ? undefined : tx.workflows.get(agent.workflowId), `The workflow of ${agent.id}`)
