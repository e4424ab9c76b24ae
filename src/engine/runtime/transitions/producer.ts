import { beatAfterSetBack, nextBeat } from '../../machine/schedule.ts'
import type { EventDraft } from '../../model/event.ts'
import type { HandlerRun } from '../../model/handler-run.ts'
import type { JsonText } from '../../model/json.ts'
import type { ProducerSchedule, Schedule } from '../../model/workflow.ts'
import type { PhaseTrace } from './attempts.ts'
import { advance, ensureUnchanged, moveStatus } from './attempts.ts'
import type { Transition } from './context.ts'
import { publishEvents } from './events.ts'
import type { SessionWrites } from './session-writes.ts'

export interface CommittedPhase {
  /** Undefined leaves the handler's state as it was. */
  state: JsonText | undefined
  drafts: readonly EventDraft[]
  trace: PhaseTrace
  /** What an agent said to its session; undefined when the workflow belongs to none. */
  session?: SessionWrites
}

export const commitProducer = (
  transition: Transition,
  run: HandlerRun,
  { state, drafts, trace }: CommittedPhase,
  timezone: string,
): void => {
  // Before anything is published: a workflow that was deleted meanwhile has no topics any more.
  ensureUnchanged(transition, run)
  const { tx, now, note } = transition
  publishEvents(transition, run.workflowId, drafts, { createdByRunId: run.id, causedBy: [] })
  if (state !== undefined) tx.handlerStates.setState(run.workflowId, run.handlerName, state, now)
  const schedule = tx.producerSchedules
    .forWorkflow(run.workflowId)
    .find(({ producerName }) => producerName === run.handlerName)
  if (schedule !== undefined) {
    const nextRunAt = beatAfter(schedule, run.startTimestamp, now, timezone)
    tx.producerSchedules.served(run.workflowId, run.handlerName, nextRunAt, run.startTimestamp)
  }
  advance(
    transition,
    run,
    'handler_returned',
    { status: moveStatus(run, 'committed'), outputState: state ?? null, endTimestamp: now },
    trace,
  )
  note({ kind: 'producer_committed', workflowId: run.workflowId, handlerName: run.handlerName })
}

/**
 * Every beat up to the start of this attempt is served by it. One that fell due while it was running saw an outside world
 * that it may have missed, so that one stays due.
 */
const beatAfter = (schedule: ProducerSchedule, servedUpTo: number, now: number, ownTimezone: string): number => {
  if (schedule.nextRunAt > servedUpTo) return schedule.nextRunAt
  const timezone = schedule.timezone ?? ownTimezone
  const next = nextBeat(specOf(schedule), schedule.nextRunAt, servedUpTo, timezone)
  return servedUpTo > now ? beatAfterSetBack(specOf(schedule), next, now, timezone) : next
}

export const specOf = ({ scheduleType, scheduleValue }: ProducerSchedule): Schedule =>
  scheduleType === 'interval' ? { interval: scheduleValue } : { cron: scheduleValue }
