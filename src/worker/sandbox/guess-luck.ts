import type { PhaseRequest } from '#engine/ports/sandbox.ts'

const MOST_KNOWN = 256
const LONGEST_REST = 64

type Handler = Pick<PhaseRequest, 'scriptId' | 'handler'>

/**
 * A `prepare` that was run ahead and then not taken has cost a thread its time. A handler that was guessed wrong, because others
 * of its workflow come between or because it reads with a tool, is left alone for a while, and for longer each time.
 */
export interface GuessLuck {
  /** Asked once before each guess. */
  isDue(handler: Handler): boolean
  hit(handler: Handler): void
  missed(handler: Handler): void
}

export function createGuessLuck(): GuessLuck {
  const unlucky = new Map<string, { rest: number; left: number }>()
  const keyOf = ({ scriptId, handler }: Handler): string => `${scriptId} ${handler}`
  return {
    isDue(handler) {
      const known = unlucky.get(keyOf(handler))
      if (known === undefined || known.left === 0) return true
      known.left -= 1
      return false
    },
    hit: (handler) => unlucky.delete(keyOf(handler)),
    missed(handler) {
      const key = keyOf(handler)
      const rest = Math.min(2 * (unlucky.get(key)?.rest ?? 0.5), LONGEST_REST)
      if (unlucky.size >= MOST_KNOWN) unlucky.clear()
      unlucky.set(key, { rest, left: rest })
    },
  }
}
