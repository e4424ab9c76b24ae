import type { PhaseEvent } from '../../machine/phases.ts'
import { failure } from '../../model/errors.ts'
import type { Failure } from '../../model/errors.ts'
import type { Event } from '../../model/event.ts'
import type { HandlerRun } from '../../model/handler-run.ts'
import type { PrepareResult, Reservation } from '../../model/prepare-result.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import type { HandlerRunPatch, StoreReads } from '../../ports/store.ts'
import { parseWorkflowConfig } from '../../script/config.ts'
import type { PhaseTrace } from './attempts.ts'
import { advance, isGoingOn, moveStatus } from './attempts.ts'
import type { Transition } from './context.ts'
import { inheritedCauses, publishEvents } from './events.ts'
import type { CommittedPhase } from './producer.ts'
import { applySessionWrites } from './session-writes.ts'

/** All or none: one id that cannot be had, and nothing is reserved or written. */
export const savePrepared = (
  transition: Transition,
  run: HandlerRun,
  prepared: PrepareResult,
  trace: PhaseTrace,
  seenMessageIds: readonly number[] = [],
): Result<void, Failure> => {
  const { tx, now } = transition
  const eventIds: string[] = []
  for (const reservation of prepared.reservations) {
    const found = findPending(tx, run.workflowId, reservation)
    if (!found.ok) return found
    eventIds.push(...found.value)
  }
  // The attempt before everything else: then it is one statement with what the transition before this wrote of it.
  const patch = { prepareResult: prepared.text }
  if (!isGoingOn(transition, run)) advance(transition, run, 'prepare_returned', patch, trace)
  else if (eventIds.length > 0) advance(transition, run, ['prepare_returned', 'mutate_begun'], patch, trace)
  else finishEmpty(transition, run, ['prepare_returned', 'nothing_reserved'], patch, trace)
  tx.events.reserve(eventIds, run.id)
  tx.sessionMessages.markSeen(seenMessageIds, run.id)
  if (isStillAConsumer(tx, run)) tx.handlerStates.setWakeAt(run.workflowId, run.handlerName, prepared.wakeAt, now)
  return ok(undefined)
}

/** A new version may have been deployed while this one's prepare ran: a wake time of a consumer that is gone wakes nobody. */
const isStillAConsumer = (tx: StoreReads, run: HandlerRun): boolean => {
  const workflow = tx.workflows.get(run.workflowId)
  if (workflow === undefined || workflow.activeScriptId === run.scriptId) return true
  return Object.hasOwn(parseWorkflowConfig(workflow.handlerConfig).consumers, run.handlerName)
}

const findPending = (tx: StoreReads, workflowId: string, { topic, ids }: Reservation): Result<string[], Failure> => {
  const byMessageId = new Map<string, Event>()
  for (const event of tx.events.getByMessageIds(workflowId, topic, ids)) byMessageId.set(event.messageId, event)
  const eventIds: string[] = []
  for (const id of ids) {
    const event = byMessageId.get(id)
    if (event === undefined) return err(reservationFailure(topic, id, 'no event with this id was ever published there'))
    if (event.status !== 'pending') return err(reservationFailure(topic, id, `it is already ${event.status}`))
    eventIds.push(event.id)
  }
  return ok(eventIds)
}

const reservationFailure = (topic: string, id: string, reason: string): Failure =>
  failure(
    'logic',
    `prepare wants to reserve "${id}" of topic "${topic}", but ${reason}. Reserve only events that peek or getByIds returned as pending in this run.`,
  )

/** Nothing to carry: mutate and next are skipped and the state stays as it is. */
export const commitEmpty = (transition: Transition, run: HandlerRun): void => {
  finishEmpty(transition, run, ['nothing_reserved'])
}

const finishEmpty = (
  transition: Transition,
  run: HandlerRun,
  events: readonly PhaseEvent[],
  patch: HandlerRunPatch = {},
  trace?: PhaseTrace,
): void => {
  const ended = { status: moveStatus(run, 'committed'), endTimestamp: transition.now }
  advance(transition, run, events, { ...patch, ...ended }, trace)
  noteCommitted(transition, run, false)
}

export const commitConsumer = (
  transition: Transition,
  run: HandlerRun,
  { state, drafts, trace, session }: CommittedPhase,
): void => {
  const { tx, now } = transition
  // As in `savePrepared`.
  advance(
    transition,
    run,
    'next_returned',
    { status: moveStatus(run, 'committed'), outputState: state ?? null, endTimestamp: now },
    trace,
  )
  if (session !== undefined) applySessionWrites(transition, run, session)
  if (drafts.length > 0) {
    const causedBy = inheritedCauses(tx.events.reservedBy(run.id))
    publishEvents(transition, run.workflowId, drafts, { createdByRunId: run.id, causedBy })
  }
  tx.events.settleReserved(run.id, run.mutationOutcome === 'skipped' ? 'skipped' : 'consumed')
  if (state !== undefined) tx.handlerStates.setState(run.workflowId, run.handlerName, state, now)
  noteCommitted(transition, run, true)
}

const noteCommitted = ({ note }: Transition, run: HandlerRun, hadReservations: boolean): void => {
  note({ kind: 'consumer_committed', workflowId: run.workflowId, handlerName: run.handlerName, hadReservations })
}
