import { failure, type Failure, type FailureType } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import type { ToolOutcome } from '#engine/ports/tools.ts'

export const succeeded = (value: Json | undefined, cost?: number): ToolOutcome =>
  cost === undefined ? { kind: 'ok', value } : { kind: 'ok', value, cost }

/** The other side certainly did not do it: it was never asked, or it said no. */
export const refused = (
  type: FailureType,
  message: string,
  extra: Omit<Failure, 'type' | 'message'> = {},
): ToolOutcome => ({
  kind: 'failed',
  certainty: 'definite',
  failure: failure(type, message, extra),
})

/** It was asked, and nobody knows whether it did it. */
export const uncertain = (
  type: FailureType,
  message: string,
  extra: Omit<Failure, 'type' | 'message'> = {},
): ToolOutcome => ({
  kind: 'failed',
  certainty: 'uncertain',
  failure: failure(type, message, extra),
})
