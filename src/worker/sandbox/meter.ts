import type { Failure } from '#engine/model/errors.ts'
import type { SandboxLimits } from '#engine/ports/sandbox.ts'
import { limitFailure, type LimitName } from './limits.ts'

/**
 * Counts what a phase uses up. Once stopped it stays stopped: a script can catch an interruption by way of a rejected
 * promise, so everything it tries afterwards is refused too.
 */
export interface Meter {
  readonly stopped: Failure | undefined
  /** Units of about 10,000 steps, the same for the same script and input on every machine. */
  readonly fuelUsed: number
  stop(failure: Failure): void
  hit(limit: LimitName): void
  /** Looks at the clock: a script that is busy in native code is seldom asked for fuel. */
  check(): void
  /** Asked by QuickJS once per unit of fuel. */
  shouldInterrupt(): boolean
  /** Time counts as computing while `work` runs. */
  computing<T>(work: () => T): T
}

export function createMeter(limits: SandboxLimits, clock = () => performance.now()): Meter {
  let stopped: Failure | undefined
  let fuelUsed = 0
  let cpuMs = 0
  let since = 0

  const meter: Meter = {
    get stopped() {
      return stopped
    },
    get fuelUsed() {
      return fuelUsed
    },
    stop: (failure) => {
      stopped ??= failure
    },
    hit: (limit) => meter.stop(limitFailure(limit, limits[limit])),
    check() {
      if (cpuMs + clock() - since > limits.cpuMs) meter.hit('cpuMs')
    },
    shouldInterrupt() {
      fuelUsed += 1
      if (fuelUsed > limits.fuel) meter.hit('fuel')
      meter.check()
      return stopped !== undefined
    },
    computing(work) {
      since = clock()
      try {
        return work()
      } finally {
        cpuMs += clock() - since
        if (cpuMs > limits.cpuMs) meter.hit('cpuMs')
      }
    },
  }
  return meter
}
