export const runTriggers = ['schedule', 'manual', 'event', 'session'] as const
export type RunTrigger = (typeof runTriggers)[number]

export const runResults = ['completed', 'failed', 'suspended', 'cancelled'] as const
export type RunResult = (typeof runResults)[number]

/** One pass over a workflow: producers, then consumers until nothing is left. Open while `endTimestamp` is null. */
export interface ScriptRun {
  id: string
  workflowId: string
  scriptId: string
  trigger: RunTrigger
  result: RunResult | null
  error: string | null
  cost: number
  handlerRunCount: number
  startTimestamp: number
  endTimestamp: number | null
}
