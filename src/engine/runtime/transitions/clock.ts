import { beatAfterSetBack } from '../../machine/schedule.ts'
import type { Transition } from './context.ts'
import { specOf } from './producer.ts'

/** As far ahead as anything but a schedule is ever planned. */
const longestWaitMs = 24 * 60 * 60_000

/**
 * After the clock was set back, what was planned by the old time would be waited for until the clock is there again: days, if it
 * was wrong by days. Beats go to where they are now, a retry waits as long as it was to wait, and a consumer whose wake time is
 * further away than any can be looks at once and says anew.
 */
export const followClock = ({ tx, now }: Transition, ownTimezone: string): void => {
  for (const schedule of tx.producerSchedules.plannedAhead(now)) {
    const timezone = schedule.timezone ?? tx.workflows.get(schedule.workflowId)?.timezone ?? ownTimezone
    const nextRunAt = beatAfterSetBack(specOf(schedule), schedule.nextRunAt, now, timezone)
    tx.producerSchedules.put({ ...schedule, nextRunAt }, now)
  }
  for (const { workflowId, handlerName } of tx.handlerStates.dueWakes(Number.MAX_SAFE_INTEGER, now + longestWaitMs)) {
    tx.handlerStates.setWakeAt(workflowId, handlerName, now, now)
  }
  for (const { id, retryAt, endTimestamp } of tx.handlerRuns.dueRetries(Number.MAX_SAFE_INTEGER, now)) {
    if (retryAt === null || endTimestamp === null || endTimestamp <= now) continue
    tx.handlerRuns.update(id, { retryAt: now + Math.max(0, retryAt - endTimestamp) })
  }
}
