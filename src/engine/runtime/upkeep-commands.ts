import { isTimeZone } from '../machine/schedule.ts'
import { engineError } from '../model/errors.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import { isRetentionDays, mostRetentionDays } from '../model/retention.ts'
import { parseRetryPolicy } from '../model/retry-policy.ts'
import { mostBudget } from '../model/workflow.ts'
import { workflowNameProblem } from '../script/names.ts'
import { parseId } from './command-input.ts'
import type { EnginePorts } from './ports.ts'
import type { Retention } from './retention/retention.ts'
import type { Scheduler } from './scheduler.ts'
import { limitsProblem } from './workflow-limits.ts'
import type { Transitions } from './transitions/index.ts'
import type { SettingsChange } from './transitions/upkeep.ts'

interface UpkeepParts {
  ports: EnginePorts
  transitions: Transitions
  scheduler: Scheduler
  retention: Pick<Retention, 'lookSoon'>
}

const SETTINGS = ['name', 'budget', 'timezone', 'permissions', 'limits', 'retryPolicy', 'retentionDays']

/** Changing settings, skipping events, cancelling runs. Each is on disk before it is answered. */
export const createUpkeepCommands = ({
  ports: { store, durability },
  transitions,
  scheduler,
  retention,
}: UpkeepParts) => {
  const answer = async <T>(workflowId: string, result: Result<T>): Promise<Result<T>> => {
    if (!result.ok) return result
    scheduler.touch(workflowId)
    scheduler.look()
    try {
      await durability.barrier()
    } catch {
      return err(
        engineError('read_only', 'Another tab has taken over meanwhile: nothing was saved. Try it again there.'),
      )
    }
    return result
  }

  const changeWorkflow = async (wanted: string, change: SettingsChange): Promise<Result<null>> => {
    const id = parseId('a workflow', wanted)
    if (!id.ok) return id
    const problem = settingsProblem(change)
    if (problem !== null) return err(engineError('invalid_input', problem))
    const changed = transitions.changeSettings(id.value, change)
    if (changed.ok && change.retentionDays !== undefined) retention.lookSoon()
    return answer(id.value, changed.ok ? ok(null) : changed)
  }

  const skipEvents = async (wanted: string, eventIds: readonly string[]): Promise<Result<{ skipped: number }>> => {
    const id = parseId('a workflow', wanted)
    if (!id.ok) return id
    if (!isTextList(eventIds)) {
      return err(engineError('invalid_input', 'The events to skip must be a list of event ids.'))
    }
    const skipped = transitions.skipEvents(id.value, eventIds)
    return answer(id.value, skipped.ok ? ok({ skipped: skipped.value }) : skipped)
  }

  const cancelRun = async (wanted: string): Promise<Result<null>> => {
    const id = parseId('a run', wanted)
    if (!id.ok) return id
    const workflowId = store.scriptRuns.get(id.value)?.workflowId ?? ''
    const cancelled = transitions.cancelRun(id.value)
    return answer(workflowId, cancelled.ok ? ok(null) : cancelled)
  }

  return { changeWorkflow, skipEvents, cancelRun }
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** Also for callers that no compiler has looked at. */
const settingsProblem = (change: unknown): string | null => {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) {
    return `The change must be an object { ${SETTINGS.map((name) => `${name}?`).join(', ')} }.`
  }
  const stranger = Object.keys(change).find((key) => !SETTINGS.includes(key))
  if (stranger !== undefined) return `There is no setting "${stranger}". There are ${SETTINGS.join(', ')}.`
  const wanted = change as Partial<Record<keyof SettingsChange, unknown>>
  const { name, budget, timezone, permissions, limits } = wanted
  if (name !== undefined) {
    const problem = typeof name === 'string' ? workflowNameProblem(name) : 'The name must be a string.'
    if (problem !== undefined) return problem
  }
  if (budget !== undefined && !(isInteger(budget) && budget >= 1 && budget <= mostBudget)) {
    return `The budget must be a whole number from 1 to ${String(mostBudget)}.`
  }
  if (timezone !== undefined && timezone !== null && !(typeof timezone === 'string' && isTimeZone(timezone))) {
    return 'The time zone must be an IANA name such as "Europe/Berlin", or null for that of the browser.'
  }
  if (permissions !== undefined && !isTextList(permissions)) return 'The permissions must be a list of strings.'
  return (limits === undefined ? null : limitsProblem(limits)) ?? policiesProblem(wanted)
}

/** Null goes back to what holds everywhere. */
const policiesProblem = ({
  retryPolicy = null,
  retentionDays = null,
}: Partial<Record<keyof SettingsChange, unknown>>): string | null => {
  if (retentionDays !== null && !isRetentionDays(retentionDays)) {
    return `The retention must be a whole number of days from 0 (keep for ever) to ${String(mostRetentionDays)}, or null for as long as everywhere.`
  }
  const policy = retryPolicy === null ? null : parseRetryPolicy(retryPolicy)
  return policy === null || policy.ok ? null : (policy.error[0]?.message ?? 'The retry policy cannot be used.')
}

const isInteger = (value: unknown): value is number => Number.isInteger(value)
