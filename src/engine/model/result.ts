import type { EngineError } from './errors.ts'

/** Expected failure is data: it survives structured clone, and the compiler makes the caller look at it. Bugs throw. */
export type Result<T, E = EngineError> = { ok: true; value: T } | { ok: false; error: E }

export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value })
export const err = <E>(error: E): { ok: false; error: E } => ({ ok: false, error })
