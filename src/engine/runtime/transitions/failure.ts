import { actionTable, backoffMs, failureTable, maxCrashesInRow } from '../../machine/failures.ts'
import { decideMove } from '../../machine/move-table.ts'
import { isPastBoundary } from '../../machine/phases.ts'
import type { MutationEvent } from '../../machine/statuses.ts'
import { statusTable } from '../../machine/statuses.ts'
import type { EscalationAction, EscalationKind } from '../../model/escalation.ts'
import type { Failure } from '../../model/errors.ts'
import { engineError, failure } from '../../model/errors.ts'
import type { HandlerRun, RunStatus } from '../../model/handler-run.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Mutation, MutationResolver, MutationStatus } from '../../model/mutation.ts'
import type { Reservation } from '../../model/prepare-result.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import { defaultRetryPolicy } from '../../model/retry-policy.ts'
import type { HandlerRunPatch, StoreReads } from '../../ports/store.ts'
import { costUsedUp, mutationsUsedUp } from '../daily-limits.ts'
import type { PhaseTrace } from './attempts.ts'
import { mustAskPerson } from './agents.ts'
import { ensureUnchanged, moveStatus, noTrace, recordTrace } from './attempts.ts'
import type { Transition } from './context.ts'
import { releaseEvents } from './events.ts'
import { moveMutation, resolution } from './mutation.ts'
import { closeAfterAttempt } from './script-runs.ts'

export interface FailedAttempt {
  failure: Failure
  trace: PhaseTrace
  /** The events this attempt worked on or looked at, so that a person can skip just those. */
  touched: readonly Reservation[]
  /** The ledger entry that ends with the attempt, and what a person is told about it. */
  mutation?: { entry: Mutation; evidence: JsonObject }
  resolvedBy?: MutationResolver
}

/** How an entry ends that certainly did not happen; one that is settled already stays as it is. */
const failingMove: Readonly<Partial<Record<MutationStatus, MutationEvent>>> = {
  pending: 'refused',
  in_flight: 'definitely_failed',
  indeterminate: 'denied',
}

/** Every failure of an attempt but the two below: the status says why, the phase stays, the boundary decides about the events. */
export const failAttempt = (transition: Transition, run: HandlerRun, failed: FailedAttempt): void => {
  ensureUnchanged(transition, run)
  const { statusEvent, escalation } = failureTable[failed.failure.type]
  const entry = failed.mutation?.entry
  const move = entry && failingMove[entry.status]
  if (entry !== undefined && move !== undefined) {
    moveMutation(transition, entry, move, {
      error: failed.failure.message,
      ...resolution(transition, failed.resolvedBy ?? null),
    })
  }
  if (!isPastBoundary(run)) releaseEvents(transition, run)
  const wait = waitBeforeRetry(transition, run, failed)
  stopAttempt(transition, run, moveStatus(run, statusEvent), failed, {
    retryAt: wait === null ? null : transition.now + wait,
  })
  if (wait === null) escalate(transition, run, escalation, failed)
}

/** Null when it is not tried again by itself. */
const waitBeforeRetry = (transition: Transition, run: HandlerRun, { failure: reason, trace }: FailedAttempt) => {
  const { tx, now, ids } = transition
  if (reason.type !== 'network') return null
  const policy = tx.workflows.get(run.workflowId)?.retryPolicy ?? defaultRetryPolicy
  // What a limit of the day holds back waits for the day to pass, however few retries there are.
  const mayRetry =
    run.retriesUsed < policy.retries ||
    mutationsUsedUp(tx, run.workflowId, now) !== null ||
    costUsedUp(tx, run.workflowId, now, trace.cost) !== null
  return mayRetry ? backoffMs(policy, run.retriesUsed, ids.random(), reason.retryAfterMs) : null
}

/** Nobody knows whether the outside world changed. The events stay reserved, nothing is sent again, a person is asked. */
export const loseOutcome = (
  transition: Transition,
  run: HandlerRun,
  failed: FailedAttempt & Required<Pick<FailedAttempt, 'mutation'>>,
): void => {
  ensureUnchanged(transition, run)
  const { entry } = failed.mutation
  if (entry.status === 'in_flight') moveMutation(transition, entry, 'outcome_lost', { error: failed.failure.message })
  stopAttempt(transition, run, moveStatus(run, 'outcome_lost'), failed)
  escalate(transition, run, 'indeterminate_mutation', failed)
}

/** An attempt that was going on when the tab died, found on the next start; its mutation certainly was not made. */
export const crashAttempt = (transition: Transition, run: HandlerRun, undone: Mutation | null): RunStatus => {
  ensureUnchanged(transition, run)
  const { tx, now } = transition
  if (crashesInRow(tx, run) + 1 >= maxCrashesInRow) {
    const message = `The tab died ${String(maxCrashesInRow)} times in a row while "${run.handlerName}" was in phase "${run.phase}". It is not tried again by itself, because the script may be what kills the tab.`
    const failed: FailedAttempt = { failure: failure('internal', message), trace: noTrace, touched: [] }
    failAttempt(transition, run, undone === null ? failed : { ...failed, mutation: { entry: undone, evidence: {} } })
    return 'failed:internal'
  }
  const message = `The tab was closed or died in phase "${run.phase}".`
  const move = undone && failingMove[undone.status]
  if (undone !== null && move !== undefined && move !== null) {
    const wasSent = undone.status !== 'pending'
    const error = `${message} ${wasSent ? 'A check showed that it did not happen.' : 'Nothing had been sent.'}`
    moveMutation(transition, undone, move, { error, ...resolution(transition, wasSent ? 'reconciled' : null) })
  }
  if (!isPastBoundary(run)) releaseEvents(transition, run)
  const status = moveStatus(run, 'crashed')
  stopAttempt(
    transition,
    run,
    status,
    { failure: failure('internal', message), trace: noTrace, touched: [] },
    { retryAt: now, errorType: null },
  )
  return status
}

/**
 * Takes an attempt back: it reserves nothing any more and is not tried again. What the world has seen, or may be seeing right
 * now, cannot be taken back: such an attempt has to come to its own end.
 */
export const cancelAttempt = (transition: Transition, runId: string, reason: string): Result<void> => {
  const { tx } = transition
  const run = tx.handlerRuns.get(runId)
  if (run === undefined) return err(engineError('not_found', `There is no handler run "${runId}".`))
  const status = decideMove(statusTable, run.status, 'cancelled')
  if (!status.ok) return status
  const mutation = tx.mutations.ofHandlerRun(run.id)
  const isUnderWay = mutation?.status === 'in_flight' || mutation?.status === 'indeterminate'
  if (isPastBoundary(run) || isUnderWay) {
    const made = isUnderWay ? 'its mutation is under way' : 'it is past its mutation'
    return err(
      engineError('illegal_transition', `"${run.handlerName}" cannot be cancelled: ${made} and has to finish.`),
    )
  }
  if (mutation?.status === 'pending') moveMutation(transition, mutation, 'refused', { error: reason })
  releaseEvents(transition, run)
  withdrawQuestion(transition, run)
  const stopped = { failure: failure('logic', reason), trace: noTrace, touched: [] }
  stopAttempt(transition, run, status.value, stopped, { errorType: null })
  return ok(undefined)
}

/** Nobody needs to answer for an attempt that is not tried again. */
const withdrawQuestion = ({ tx, now }: Transition, run: HandlerRun): void => {
  const open = tx.escalations.openOfHandlerRun(run.id)
  if (open === undefined) return
  tx.escalations.resolve(open.id, 'skip', null, now)
  tx.workflows.setBlock(run.workflowId, null, now)
}

const crashesInRow = (tx: StoreReads, run: HandlerRun): number => {
  let crashes = 0
  for (let id = run.retryOf; id !== null && crashes < maxCrashesInRow;) {
    const before = tx.handlerRuns.get(id)
    if (before?.status !== 'crashed') break
    crashes += 1
    id = before.retryOf
  }
  return crashes
}

const stopAttempt = (
  transition: Transition,
  run: HandlerRun,
  status: RunStatus,
  { failure: reason, trace }: FailedAttempt,
  patch: HandlerRunPatch = {},
): void => {
  ensureUnchanged(transition, run)
  const { tx, now, note } = transition
  tx.handlerRuns.update(run.id, {
    status,
    error: reason.message,
    errorType: reason.type,
    errorLine: reason.position?.line ?? null,
    errorColumn: reason.position?.column ?? null,
    retryAt: null,
    endTimestamp: now,
    ...(trace.cost > 0 ? { cost: run.cost + trace.cost } : {}),
    ...patch,
  })
  recordTrace(transition, run, trace)
  closeAfterAttempt(transition, run.scriptRunId, status, reason.message)
  if (run.handlerType === 'consumer') {
    note({ kind: 'consumer_stopped', workflowId: run.workflowId, handlerName: run.handlerName })
  }
}

const escalate = (
  transition: Transition,
  run: HandlerRun,
  kind: EscalationKind,
  { failure: reason, touched, mutation }: FailedAttempt,
): void => {
  if (!mustAskPerson(transition, run, kind, reason.message)) return
  const { tx, now, ids } = transition
  const details: JsonObject = {
    handlerType: run.handlerType,
    handlerName: run.handlerName,
    phase: run.phase,
    error: reason.message,
    errorType: reason.type,
    line: reason.position?.line ?? null,
    column: reason.position?.column ?? null,
    events: touched.map(({ topic, ids: messageIds }) => ({ topic, ids: [...messageIds] })),
    ...(reason.stack === undefined ? {} : { stack: reason.stack }),
    ...(reason.neededPermissions === undefined ? {} : { neededPermissions: reason.neededPermissions }),
    ...mutation?.evidence,
  }
  const canSkip = kind === 'indeterminate_mutation' || touched.length > 0
  // Only what Holdfast itself withholds can be granted here; what the other side forbids is changed there, then retried.
  const canGrant = (reason.neededPermissions ?? []).length > 0
  const isOffered: Partial<Record<EscalationAction, boolean>> = {
    skip: canSkip,
    grant: canGrant,
    retry: kind !== 'permission' || !canGrant,
    check_again: details['canCheckAgain'] === true,
  }
  tx.escalations.insert({
    id: ids.next('esc'),
    workflowId: run.workflowId,
    scriptRunId: run.scriptRunId,
    handlerRunId: run.id,
    mutationId: mutation?.entry.id ?? null,
    kind,
    message: reason.message,
    details,
    actions: actionTable[kind].filter((action) => isOffered[action] ?? true),
    resolution: null,
    resolutionValue: null,
    createdAt: now,
    resolvedAt: null,
  })
  tx.workflows.setBlock(run.workflowId, { runId: run.id, kind, message: reason.message }, now)
}
