import type { Json } from './json.ts'

/** Stable codes: scripts and tests outside of this repository compare against them. */
export const engineErrorCodes = [
  'already_resolved',
  'illegal_transition',
  'internal',
  'invalid_input',
  'invalid_script',
  'invalid_session',
  'leader_lost',
  'not_found',
  'read_only',
  'run_active',
  'storage',
  'unknown_topic',
  'workflow_blocked',
  'workflow_paused',
] as const
export type EngineErrorCode = (typeof engineErrorCodes)[number]

/** A plain object, never a class: Comlink drops the class and the cause of what is thrown. */
export interface EngineError {
  code: EngineErrorCode
  message: string
  details?: Json
}

export const engineError = (code: EngineErrorCode, message: string, details?: Json): EngineError =>
  details === undefined ? { code, message } : { code, message, details }

/** Why an attempt failed, decided where the failure happened (1.6). Nobody pattern-matches messages. */
export const failureTypes = ['network', 'auth', 'permission', 'logic', 'internal'] as const
export type FailureType = (typeof failureTypes)[number]

export interface SourcePosition {
  line: number
  column: number | null
}

export interface Failure {
  type: FailureType
  message: string
  /** Where in the user's own source, when the script was at fault. */
  position?: SourcePosition
  stack?: string
  /** What the other side asked for by Retry-After. */
  retryAfterMs?: number
  /** What a person would have to grant for it to go through. */
  neededPermissions?: string[]
}

export const failure = (
  type: FailureType,
  message: string,
  extra: Omit<Failure, 'type' | 'message'> = {},
): Failure => ({
  type,
  message,
  ...extra,
})

/** Thrown for what can only be a mistake in our own code. It ends as `failed:internal`, never as the script's fault. */
export class EngineBug extends Error {
  override name = 'EngineBug'
}

/** A barrier was refused: somebody else owns the data now. What this engine still knows is to be dropped, not written down. */
export class OwnershipLost extends Error {
  override name = 'OwnershipLost'
}
