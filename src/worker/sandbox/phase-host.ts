import { failure } from '#engine/model/errors.ts'
import type { SandboxLimits } from '#engine/ports/sandbox.ts'
import type { GuestHost } from './guest.ts'
import { isLimitName } from './limits.ts'
import type { Meter } from './meter.ts'
import type { HostCall } from './phase-link.ts'
import { isLongerThan, utf8Bytes } from './text-size.ts'
import { answerUrl } from './url-parts.ts'

export interface PhaseHostParts {
  limits: SandboxLimits
  meter: Meter
  /** Calls of this turn, not yet handed over. */
  queued: HostCall[]
  /** Calls handed over and not yet answered. */
  inFlight: ReadonlySet<number>
  now(): number
  random(): number
  log(level: string, message: string): void
}

function hitNamedLimit(meter: Meter, json: string): void {
  const name: unknown = JSON.parse(json)
  if (isLimitName(name)) meter.hit(name)
}

/** Answers the guest during a phase. Calls are only queued here: nothing happens while the script computes. */
export function createPhaseGuestHost({ limits, meter, queued, inFlight, ...parts }: PhaseHostParts): GuestHost {
  let logLines = 0
  let logBytes = 0
  let isConcluded = false
  let pollsAfterwards = 0

  const log = (json: string): void => {
    const [level, message] = JSON.parse(json) as [string, string]
    logLines += 1
    logBytes += utf8Bytes(message)
    if (logLines > limits.logLines) meter.hit('logLines')
    else if (logBytes > limits.logBytes) meter.hit('logBytes')
    else parts.log(level, message)
  }

  const enqueue = (call: HostCall): void => {
    if (isLongerThan(call.args, limits.valueBytes)) meter.hit('valueBytes')
    else if (inFlight.size + queued.length >= limits.hostCallsInFlight) meter.hit('hostCallsInFlight')
    // A patched Array.prototype.toJSON can write anything.
    else if (!call.args.startsWith('[')) meter.stop(failure('logic', `${call.op}: its arguments are not a JSON array.`))
    else queued.push(call)
  }

  return {
    shouldInterrupt() {
      if (isConcluded) pollsAfterwards += 1
      // The first may fall between the conclusion and the settling of the promise that carries it.
      return meter.shouldInterrupt() || pollsAfterwards > 1
    },
    isStopped: () => meter.stopped !== undefined,
    call(id, op, json) {
      meter.check()
      if (meter.stopped !== undefined || isConcluded) return undefined
      if (json === '') meter.hit('memoryBytes')
      else if (id !== 0) enqueue({ id, op, args: json })
      else if (op === 'now') return parts.now()
      else if (op === 'random') return parts.random()
      else if (op === 'log') log(json)
      else if (op === 'limit') hitNamedLimit(meter, json)
      else if (op === 'url') return answerUrl(json)
      else if (op === 'conclude') isConcluded = true
      return undefined
    },
  }
}

/** Answers the guest while a script is evaluated: there is no time, no chance and nobody to talk to yet. */
export function createLoadingGuestHost(meter: Meter): GuestHost {
  return {
    shouldInterrupt: () => meter.shouldInterrupt(),
    isStopped: () => meter.stopped !== undefined,
    call(_id, op, json) {
      if (op === 'limit') hitNamedLimit(meter, json)
      if (op === 'url' && json !== '') return answerUrl(json)
      return undefined
    },
  }
}
