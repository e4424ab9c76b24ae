import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import type { HostCall } from './phase-link.ts'

const MOST_KNOWN = 256

/**
 * What a handler's `prepare` asked for first, last time. Most ask the same each time, and then the answer can come along with
 * the phase instead of costing a way there and back.
 */
export interface FirstCalls {
  ofPrepare(handler: Pick<PhaseRequest, 'scriptId' | 'handler'>): Pick<HostCall, 'op' | 'args'> | undefined
  learn(request: PhaseRequest, calls: readonly HostCall[]): void
}

export function createFirstCalls(): FirstCalls {
  const known = new Map<string, Pick<HostCall, 'op' | 'args'>>()
  const keyOf = ({ scriptId, handler }: Pick<PhaseRequest, 'scriptId' | 'handler'>): string => `${scriptId} ${handler}`
  return {
    ofPrepare: (handler) => known.get(keyOf(handler)),
    learn(request, [first, ...others]) {
      if (request.phase !== 'prepare') return
      const key = keyOf(request)
      known.delete(key)
      if (first === undefined || others.length > 0) return
      if (known.size >= MOST_KNOWN) known.clear()
      known.set(key, { op: first.op, args: first.args })
    },
  }
}
