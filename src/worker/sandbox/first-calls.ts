import type { JsonText } from '#engine/model/json.ts'
import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import type { HostCall } from './phase-link.ts'
import { reservationsIn } from './reserved-events.ts'

const MOST_KNOWN = 256

/**
 * What a handler's `prepare` asked for first, last time. Most ask the same each time, and then the answer can come along with
 * the phase instead of costing a way there and back.
 */
export interface FirstCalls {
  ofPrepare(handler: Handler): FirstCall | undefined
  learn(request: PhaseRequest, calls: readonly HostCall[]): void
  /** What `prepare` came to. */
  learnReserved(handler: Handler, prepared: JsonText): void
}

type Handler = Pick<PhaseRequest, 'scriptId' | 'handler'>

export interface FirstCall extends Pick<HostCall, 'op' | 'args'> {
  /** How many events it reserved, the last time that is known. */
  reserves: number
}

const MOST_RESERVED = 16

export function createFirstCalls(): FirstCalls {
  const known = new Map<string, FirstCall>()
  const keyOf = ({ scriptId, handler }: Handler): string => `${scriptId} ${handler}`
  return {
    ofPrepare: (handler) => known.get(keyOf(handler)),
    learn(request, [first, ...others]) {
      if (request.phase !== 'prepare') return
      const key = keyOf(request)
      const reserves = known.get(key)?.reserves ?? 1
      known.delete(key)
      if (first === undefined || others.length > 0) return
      if (known.size >= MOST_KNOWN) known.clear()
      known.set(key, { op: first.op, args: first.args, reserves })
    },
    learnReserved(handler, prepared) {
      const first = known.get(keyOf(handler))
      if (first === undefined) return
      const count = reservationsIn(prepared).reduce((sum, { ids }) => sum + ids.length, 0)
      first.reserves = Math.min(Math.max(count, 1), MOST_RESERVED)
    },
  }
}
