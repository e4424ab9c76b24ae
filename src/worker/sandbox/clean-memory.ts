import type { Failure } from '#engine/model/errors.ts'
import type { Result } from '#engine/model/result.ts'
import type { SandboxLimits } from '#engine/ports/sandbox.ts'
import type { Guest } from './guest.ts'
import { createMeter } from './meter.ts'
import { createLoadingGuestHost } from './phase-host.ts'
import { breakdownToFailure, stopToFailure, thrownToFailure } from './script-failure.ts'

export interface GuestScript {
  /** Null for code that will not be seen again. */
  id: string | null
  code: string
  /** On `ctx`, as dotted paths. */
  operations?: readonly string[]
}

/**
 * Where guests come from. Whatever a phase leaves behind is gone in the next: each guest that is lent out has in its memory
 * the script, just evaluated, and nothing else. Two implementations, one promise; the tests hold both to it.
 */
export interface CleanMemory {
  /** `evaluated` is called when the script had to be evaluated first, and that is done. */
  lend(script: GuestScript, limits: SandboxLimits, evaluated?: () => void): Promise<Result<Guest, Failure>>
  /** `isIntact` is false after a host exception, an interruption or exhausted memory: such a guest is never lent again. */
  takeBack(guest: Guest, isIntact: boolean): void
  /** Cleans what was used, at a moment when nobody waits for it; what was not cleaned is when it is lent. */
  tidy(): void
}

export interface LoadEnd {
  failure: Failure | undefined
  isIntact: boolean
}

/**
 * Evaluates a script, promises included, on a meter of its own: what a phase uses up must not depend on whether the script
 * was evaluated for it or long before.
 */
export function loadScript(guest: Guest, { code, operations = [] }: GuestScript, limits: SandboxLimits): LoadEnd {
  const meter = createMeter(limits)
  guest.talkTo(createLoadingGuestHost(meter))
  guest.setLimits(limits)
  try {
    guest.furnish(operations)
    const answer = meter.computing(() => guest.load(code))
    while (meter.stopped === undefined && meter.computing(() => guest.runJobs()));
    if (meter.stopped !== undefined) return { failure: stopToFailure(meter.stopped, guest.stoppedAt), isIntact: false }
    const failure = answer === 'L' ? undefined : thrownToFailure(answer.slice(1), limits)
    return { failure, isIntact: !guest.isExhausted }
  } catch (error) {
    const failure = meter.stopped && stopToFailure(meter.stopped, guest.stoppedAt)
    return { failure: failure ?? breakdownToFailure(error, limits), isIntact: false }
  }
}
