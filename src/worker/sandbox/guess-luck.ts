import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import type { PhaseAhead } from './walk-ahead.ts'

const MOST_KNOWN = 256
const LONGEST_REST = 64
const MOST_ATTEMPTS = 32

type Handler = Pick<PhaseRequest, 'scriptId' | 'handler'>
/** What may turn out wrong: what `prepare` is shown, what `next` is told, and that `mutate` asks for one mutation and nothing else. */
type Guessed = PhaseAhead['phase']

/**
 * How far a handler is run ahead. A phase that was not taken has cost a thread its time: one that was guessed wrong, because it reads
 * with a tool or the clock, or events of others come between, is left alone for a while, and for longer each time. With each that is
 * taken its handler is run further ahead.
 */
export interface GuessLuck {
  /** How many attempts may be run ahead; none while the phase is left alone. Asked once before each guess. */
  attemptsAhead(handler: Handler, phase: Guessed): number
  hit(handler: Handler, phase: Guessed): void
  missed(handler: Handler, phase: Guessed): void
}

interface Luck {
  attempts: number
  rest: number
  left: number
}

export function createGuessLuck(): GuessLuck {
  const known = new Map<string, Luck>()
  const keyOf = ({ scriptId, handler }: Handler, phase: Guessed): string => `${scriptId} ${handler} ${phase}`
  const put = (key: string, luck: Luck): void => {
    if (known.size >= MOST_KNOWN && !known.has(key)) known.clear()
    known.set(key, luck)
  }
  return {
    attemptsAhead(handler, phase) {
      const luck = known.get(keyOf(handler, phase))
      if (luck === undefined) return 1
      if (luck.left === 0) return luck.attempts
      luck.left -= 1
      return 0
    },
    hit(handler, phase) {
      const key = keyOf(handler, phase)
      put(key, { attempts: Math.min(2 * (known.get(key)?.attempts ?? 1), MOST_ATTEMPTS), rest: 0, left: 0 })
    },
    missed(handler, phase) {
      const key = keyOf(handler, phase)
      const rest = Math.min(2 * (known.get(key)?.rest ?? 0) || 1, LONGEST_REST)
      put(key, { attempts: 1, rest, left: rest })
    },
  }
}
