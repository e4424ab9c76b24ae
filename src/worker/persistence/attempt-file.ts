import { err, ok, type Result } from '#engine/model/result.ts'
import type { DiskTrouble } from './disk.ts'

const troubleOf = (error: unknown): DiskTrouble => {
  const { name, message } = error instanceof Error || error instanceof DOMException ? error : new Error(String(error))
  return { kind: name === 'QuotaExceededError' ? 'full' : 'lost', reason: `${name}: ${message}` }
}

export async function attempt<T>(work: () => Promise<T> | T): Promise<Result<T, DiskTrouble>> {
  try {
    return ok(await work())
  } catch (error) {
    return err(troubleOf(error))
  }
}

/** Without giving up the turn. */
export function attemptNow<T>(work: () => T): Result<T, DiskTrouble> {
  try {
    return ok(work())
  } catch (error) {
    return err(troubleOf(error))
  }
}
