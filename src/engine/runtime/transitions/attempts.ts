import { decideMove } from '../../machine/move-table.ts'
import type { PhaseEvent } from '../../machine/phases.ts'
import { decidePhase, isPastBoundary, retryPhase } from '../../machine/phases.ts'
import type { StatusEvent } from '../../machine/statuses.ts'
import { statusTable } from '../../machine/statuses.ts'
import { EngineBug } from '../../model/errors.ts'
import type { HandlerRun, HandlerType, Phase } from '../../model/handler-run.ts'
import type { JsonText } from '../../model/json.ts'
import type { LogLine } from '../../model/log.ts'
import { defaultRetryPolicy } from '../../model/retry-policy.ts'
import type { ScriptRun } from '../../model/script-run.ts'
import type { Workflow } from '../../model/workflow.ts'
import type { HandlerRunPatch } from '../../ports/store.ts'
import type { Transition } from './context.ts'
import { must, mustExist } from './context.ts'
import { reopenScriptRun } from './script-runs.ts'

/** What a phase leaves behind besides its result: written in the same transaction as whatever ends the phase. */
export interface PhaseTrace {
  logs: readonly LogLine[]
  /** Integer micro-units. */
  cost: number
}

export const noTrace: PhaseTrace = { logs: [], cost: 0 }

/** Created and begun in one step: between the two there is nothing that could go wrong. */
export const startAttempt = (
  transition: Transition,
  scriptRun: ScriptRun,
  handler: { type: HandlerType; name: string },
): HandlerRun => {
  const { tx, now, ids } = transition
  const phase = must(decidePhase(handler.type, 'pending', 'begun'))
  const workflow = mustExist(tx.workflows.get(scriptRun.workflowId), `Workflow ${scriptRun.workflowId}`)
  const run: HandlerRun = {
    id: ids.next('hr'),
    scriptRunId: scriptRun.id,
    workflowId: workflow.id,
    scriptId: mustExist(workflow.activeScriptId ?? undefined, `The active version of workflow ${workflow.id}`),
    handlerType: handler.type,
    handlerName: handler.name,
    phase,
    status: 'active',
    retryOf: null,
    attempt: 1,
    retriesUsed: 0,
    retryAt: null,
    prepareResult: null,
    mutationOutcome: null,
    mutationResult: null,
    inputState: tx.handlerStates.get(workflow.id, handler.name)?.state ?? null,
    outputState: null,
    error: null,
    errorType: null,
    errorLine: null,
    errorColumn: null,
    cost: 0,
    phaseTimes: appendPhaseTime(appendPhaseTime('[]', 'pending', now), phase, now),
    startTimestamp: now,
    endTimestamp: null,
  }
  tx.scriptRuns.countHandlerRun(scriptRun.id)
  tx.handlerRuns.insert(run)
  if (phase === 'preparing') notePrepareBegun(transition, run)
  return run
}

/**
 * The attempt after one that stopped. Past the boundary it takes over what was prepared, the outcome and the reserved events,
 * and only `next` is left to do; before it, everything starts afresh. It runs the version that is active now.
 */
export const startRetry = (transition: Transition, stopped: HandlerRun): HandlerRun => {
  const { tx, now, ids } = transition
  if (tx.handlerRuns.retryOf(stopped.id) !== undefined) throw new EngineBug(`${stopped.id} was retried already.`)
  if (stopped.status === 'active' || stopped.status === 'committed' || stopped.status === 'cancelled') {
    throw new EngineBug(`${stopped.id} is "${stopped.status}": there is nothing to retry.`)
  }
  reopenScriptRun(transition, stopped.scriptRunId)
  const workflow = mustExist(tx.workflows.get(stopped.workflowId), `Workflow ${stopped.workflowId}`)
  const goesOn = isPastBoundary(stopped)
  const phase = retryPhase(stopped)
  const run: HandlerRun = {
    ...stopped,
    id: ids.next('hr'),
    scriptId: workflow.activeScriptId ?? stopped.scriptId,
    phase,
    status: 'active',
    retryOf: stopped.id,
    attempt: stopped.attempt + 1,
    retriesUsed: retriesUsedAfter(transition, stopped, workflow),
    retryAt: null,
    prepareResult: goesOn ? stopped.prepareResult : null,
    mutationOutcome: goesOn ? stopped.mutationOutcome : null,
    mutationResult: goesOn ? stopped.mutationResult : null,
    inputState: goesOn
      ? stopped.inputState
      : (tx.handlerStates.get(stopped.workflowId, stopped.handlerName)?.state ?? null),
    outputState: null,
    error: null,
    errorType: null,
    errorLine: null,
    errorColumn: null,
    cost: 0,
    phaseTimes: appendPhaseTime('[]', phase, now),
    startTimestamp: now,
    endTimestamp: null,
  }
  tx.handlerRuns.update(stopped.id, { retryAt: null })
  tx.handlerRuns.insert(run)
  tx.scriptRuns.countHandlerRun(stopped.scriptRunId)
  if (goesOn) takeOver(transition, stopped, run, workflow)
  if (phase === 'preparing') notePrepareBegun(transition, run)
  return run
}

const takeOver = ({ tx }: Transition, stopped: HandlerRun, run: HandlerRun, workflow: Workflow): void => {
  tx.events.transferReserved(stopped.id, run.id)
  const agent = workflow.sessionId === null ? undefined : tx.sessionAgents.ofWorkflow(workflow.id)
  if (agent !== undefined) tx.sessionMessages.transferSeen(agent.id, stopped.id, run.id)
}

/** Automatic retries count up, a crash neither counts nor resets, and whatever a person set going starts at nought. */
const retriesUsedAfter = (transition: Transition, stopped: HandlerRun, workflow: Workflow): number => {
  if (stopped.status === 'crashed') return stopped.retriesUsed
  const isAutomatic = stopped.status === 'paused:transient' && !wasGivenUp(transition, stopped, workflow)
  return isAutomatic ? stopped.retriesUsed + 1 : 0
}

/**
 * Not by the policy of now, which may be another one than when it failed. An agent may have failed without a question, but its
 * policy never changes.
 */
const wasGivenUp = ({ tx }: Transition, stopped: HandlerRun, { sessionId }: Workflow): boolean =>
  sessionId === null ? tx.escalations.wasExhausted(stopped.id) : stopped.retriesUsed >= defaultRetryPolicy.retries

const notePrepareBegun = ({ note }: Transition, run: HandlerRun): void => {
  // From here on the handler looks at the events itself: one that arrives later makes it dirty again.
  note({ kind: 'prepare_begun', workflowId: run.workflowId, handlerName: run.handlerName })
}

/** The row is no longer as the step that wants to write it found it: cancelled or deleted meanwhile. The step has lost. */
export class StaleAttempt extends Error {
  override name = 'StaleAttempt'
}

/** A step awaits scripts and tools between reading the row and writing it. */
export const ensureUnchanged = ({ tx }: Transition, run: HandlerRun): void => {
  const current = tx.handlerRuns.get(run.id)
  if (current?.status !== run.status || current.phase !== run.phase) {
    throw new StaleAttempt(`${run.id} changed while its phase "${run.phase}" was under way.`)
  }
}

/** A paused workflow's attempt waits between two phases; otherwise the next one begins in the commit that ends this one. */
export const isGoingOn = ({ tx }: Transition, run: HandlerRun): boolean =>
  tx.workflows.get(run.workflowId)?.status === 'active'

/**
 * Moves the phase of an active run, with whatever else belongs into the same transaction. Several events where nothing happens
 * between them: a commit less is time gained, and a state in which nobody ever has to be found.
 */
export const advance = (
  transition: Transition,
  run: HandlerRun,
  events: PhaseEvent | readonly PhaseEvent[],
  patch: HandlerRunPatch = {},
  trace: PhaseTrace = noTrace,
): void => {
  ensureUnchanged(transition, run)
  const { tx, now } = transition
  let { phase, phaseTimes } = run
  for (const event of typeof events === 'string' ? [events] : events) {
    phase = must(decidePhase(run.handlerType, phase, event))
    phaseTimes = appendPhaseTime(phaseTimes, phase, now)
  }
  tx.handlerRuns.update(run.id, {
    ...patch,
    phase,
    phaseTimes,
    ...(trace.cost > 0 ? { cost: run.cost + trace.cost } : {}),
  })
  recordTrace(transition, run, trace)
  if (phase === 'preparing') notePrepareBegun(transition, run)
}

export const moveStatus = (run: HandlerRun, event: StatusEvent): HandlerRun['status'] =>
  must(decideMove(statusTable, run.status, event))

export const recordTrace = ({ tx, note }: Transition, run: HandlerRun, { logs, cost }: PhaseTrace): void => {
  if (logs.length > 0) tx.logs.append(run, logs)
  if (cost === 0) return
  tx.scriptRuns.addCost(run.scriptRunId, cost)
  note({ kind: 'cost_added', workflowId: run.workflowId })
}

const appendPhaseTime = (times: JsonText, phase: Phase, at: number): JsonText =>
  `${times.slice(0, -1)}${times === '[]' ? '' : ','}["${phase}",${String(at)}]]`
