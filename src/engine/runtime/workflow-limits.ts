import type { DailyLimits } from '../model/workflow.ts'
import type { SandboxLimits } from '../ports/sandbox.ts'
import type { SettingReads } from '../ports/store.ts'

export type WorkflowLimits = SandboxLimits & DailyLimits

/** Total records, so that a new limit does not compile until a workflow can set it. */
const sandboxNames: Readonly<Record<keyof SandboxLimits, true>> = {
  cpuMs: true,
  fuel: true,
  wallMs: true,
  memoryBytes: true,
  stackBytes: true,
  valueBytes: true,
  stateBytes: true,
  logLines: true,
  logBytes: true,
  errorChars: true,
  hostCallsInFlight: true,
}
const names: Readonly<Record<keyof WorkflowLimits, true>> = {
  ...sandboxNames,
  mutationsPerDay: true,
  costPerDay: true,
}

export const limitsKey = (workflowId: string): string => `limits:${workflowId}`

/** What a person has set for this workflow. */
export const limitsOf = (settings: SettingReads, workflowId: string): Partial<WorkflowLimits> => {
  const text = settings.get(limitsKey(workflowId))
  return text === undefined ? {} : (JSON.parse(text) as Partial<WorkflowLimits>)
}

/** Those of the sandbox, which keeps them within what the host can bear. */
export const sandboxLimitsOf = (settings: SettingReads, workflowId: string): Partial<SandboxLimits> =>
  Object.fromEntries(
    Object.entries(limitsOf(settings, workflowId)).filter(([name]) => Object.hasOwn(sandboxNames, name)),
  )

/** Null when they can be set. */
export const limitsProblem = (limits: unknown): string | null => {
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) {
    return 'The limits must be an object such as { cpuMs: 10000 }; an empty one goes back to the defaults.'
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(names, name)) return `There is no limit "${name}". There are ${Object.keys(names).join(', ')}.`
    if (!Number.isInteger(value) || (value as number) < 1) return `The limit "${name}" must be a whole number above 0.`
  }
  return null
}
