import type { FailureType } from './errors.ts'
import type { JsonText } from './json.ts'

export const handlerTypes = ['producer', 'consumer'] as const
export type HandlerType = (typeof handlerTypes)[number]

export const producerPhases = ['pending', 'executing', 'committed'] as const
export const consumerPhases = [
  'pending',
  'preparing',
  'prepared',
  'mutating',
  'mutated',
  'emitting',
  'committed',
] as const
export type ProducerPhase = (typeof producerPhases)[number]
export type ConsumerPhase = (typeof consumerPhases)[number]
export type Phase = ProducerPhase | ConsumerPhase

/** Status says why a run is not moving; a failure changes the status and never the phase. */
export const runStatuses = [
  'active',
  'paused:transient',
  'paused:approval',
  'paused:reconciliation',
  'failed:logic',
  'failed:internal',
  'crashed',
  'cancelled',
  'committed',
] as const
export type RunStatus = (typeof runStatuses)[number]

/** What `next` is told about the mutation. Set once the boundary is crossed, null before. */
export const mutationOutcomes = ['applied', 'none', 'skipped'] as const
export type MutationOutcome = (typeof mutationOutcomes)[number]

/** One attempt at one handler. A retry is a new row whose `retryOf` names the attempt before. */
export interface HandlerRun {
  id: string
  scriptRunId: string
  workflowId: string
  /** The version this attempt executes; a retry after an edit runs the new one. */
  scriptId: string
  handlerType: HandlerType
  handlerName: string
  phase: Phase
  status: RunStatus
  retryOf: string | null
  /** 1 for the first attempt of a chain. */
  attempt: number
  /** Automatic retries spent since a person last had a hand in it. */
  retriesUsed: number
  /** When this attempt is to be followed by another; null when nothing is due. */
  retryAt: number | null
  prepareResult: JsonText | null
  mutationOutcome: MutationOutcome | null
  mutationResult: JsonText | null
  inputState: JsonText | null
  outputState: JsonText | null
  error: string | null
  errorType: FailureType | null
  errorLine: number | null
  errorColumn: number | null
  /** Integer micro-units. */
  cost: number
  /** When each phase was entered, in order: [["preparing", 1700000000000], …]. */
  phaseTimes: JsonText
  startTimestamp: number
  endTimestamp: number | null
}
