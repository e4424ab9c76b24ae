import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import type { HostCall } from './phase-link.ts'

const MOST_KNOWN = 256

/**
 * What a handler's `prepare` asked for first, last time. Most ask the same each time, and then the answer can come along with
 * the phase instead of costing a way there and back.
 */
export interface FirstCalls {
  guessFor(request: PhaseRequest): Pick<HostCall, 'op' | 'args'> | undefined
  learn(request: PhaseRequest, calls: readonly HostCall[]): void
}

export function createFirstCalls(): FirstCalls {
  const known = new Map<string, Pick<HostCall, 'op' | 'args'>>()
  const keyOf = ({ scriptId, handler }: PhaseRequest): string => `${scriptId} ${handler}`
  return {
    guessFor: (request) => (request.phase === 'prepare' ? known.get(keyOf(request)) : undefined),
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
