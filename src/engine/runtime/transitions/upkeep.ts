import { nextBeat } from '../../machine/schedule.ts'
import { engineError } from '../../model/errors.ts'
import type { HandlerRun, RunStatus } from '../../model/handler-run.ts'
import type { Result } from '../../model/result.ts'
import type { RetryPolicy } from '../../model/retry-policy.ts'
import { err, ok } from '../../model/result.ts'
import type { ScriptRun } from '../../model/script-run.ts'
import type { Workflow } from '../../model/workflow.ts'
import type { WorkflowLimits } from '../workflow-limits.ts'
import { limitsKey } from '../workflow-limits.ts'
import type { Transition } from './context.ts'
import { cancelAttempt } from './failure.ts'
import { closeScriptRun } from './script-runs.ts'
import { unknownWorkflow } from './workflows.ts'

/** What of a workflow a person can change without a new version. Absent leaves it as it is. */
export interface SettingsChange {
  name?: string
  /** Handler runs per run. */
  budget?: number
  /** Null means the browser's. */
  timezone?: string | null
  /** All that is granted from now on. */
  permissions?: readonly string[]
  /** Null goes back to that of everywhere. What waits for its retry waits as it was told to; the next failure goes by the new one. */
  retryPolicy?: RetryPolicy | null
  /** 0 keeps its finished runs for ever; null keeps them as long as everywhere. */
  retentionDays?: number | null
  /** Of the sandbox and of the day; replaces what was set before. */
  limits?: Partial<WorkflowLimits>
}

export const changeSettings = (
  transition: Transition,
  id: string,
  change: SettingsChange,
  ownTimezone: string,
): Result<void> => {
  const { tx, now } = transition
  const workflow = tx.workflows.get(id)
  if (workflow === undefined) return err(unknownWorkflow(id))
  if (workflow.sessionId !== null && (change.retryPolicy !== undefined || change.retentionDays !== undefined)) {
    return err(ofAgent(workflow))
  }
  const { name = workflow.name, budget = workflow.budget, timezone = workflow.timezone } = change
  const { retryPolicy = workflow.retryPolicy, retentionDays = workflow.retentionDays } = change
  tx.workflows.setSettings(id, { name, budget, timezone, retryPolicy, retentionDays }, now)
  if (change.permissions !== undefined) tx.workflows.setPermissions(id, [...new Set(change.permissions)], now)
  if (change.limits !== undefined) {
    tx.settings.set(limitsKey(id), JSON.stringify(change.limits), now)
    hurryRetries(transition, id)
  }
  if (timezone !== workflow.timezone) moveBeats(transition, id, timezone ?? ownTimezone)
  return ok(undefined)
}

const ofAgent = ({ name }: Workflow) =>
  engineError(
    'illegal_transition',
    `"${name}" is the private workflow of an agent: its retries are those of everywhere, and its runs are kept as long as its session.`,
  )

/** What waits because a limit was used up may go on with the new one; whatever waits for something else can bear one look. */
const hurryRetries = ({ tx, now }: Transition, workflowId: string): void => {
  for (const run of tx.handlerRuns.awaitingRetry(workflowId)) {
    if (run.retryAt !== null && run.retryAt > now) tx.handlerRuns.update(run.id, { retryAt: now })
  }
}

/** "At nine" is another moment now. A beat that is due already stays due: it was missed in the old zone. */
const moveBeats = ({ tx, now }: Transition, workflowId: string, timezone: string): void => {
  for (const schedule of tx.producerSchedules.forWorkflow(workflowId)) {
    const dependsOnZone = schedule.scheduleType === 'cron' && schedule.timezone === null
    if (!dependsOnZone || schedule.nextRunAt <= now) continue
    const nextRunAt = nextBeat({ cron: schedule.scheduleValue }, now, now, timezone)
    tx.producerSchedules.put({ ...schedule, nextRunAt }, now)
  }
}

/** Only what is still pending and belongs to the workflow is skipped; answers how many were. */
export const skipEvents = ({ tx }: Transition, workflowId: string, eventIds: readonly string[]): Result<number> => {
  if (tx.workflows.get(workflowId) === undefined) return err(unknownWorkflow(workflowId))
  const own = eventIds.filter((id) => tx.events.get(id)?.workflowId === workflowId)
  return ok(tx.events.skipPending(own))
}

const canStillGoOn: readonly RunStatus[] = ['active', 'paused:transient', 'paused:approval', 'crashed']

/** Takes back every attempt of a run that could still go on. What is past its mutation cannot be taken back and finishes. */
export const cancelRun = (transition: Transition, runId: string): Result<ScriptRun> => {
  const { tx } = transition
  const run = tx.scriptRuns.get(runId)
  if (run === undefined) return err(engineError('not_found', `There is no run "${runId}".`))
  const isLast = ({ id }: HandlerRun): boolean => tx.handlerRuns.retryOf(id) === undefined
  const open = tx.handlerRuns
    .listByScriptRun(runId)
    .filter((attempt) => canStillGoOn.includes(attempt.status) && isLast(attempt))
  if (open.length === 0) {
    if (run.endTimestamp !== null) {
      return err(engineError('illegal_transition', 'This run has ended: there is nothing to cancel.'))
    }
    closeScriptRun(transition, runId, 'cancelled')
    return ok(run)
  }
  const answers = open.map(({ id }) => cancelAttempt(transition, id, 'Cancelled by the user.'))
  const refusal = answers.find((answer) => !answer.ok)
  return refusal && answers.every((answer) => !answer.ok) ? refusal : ok(run)
}
