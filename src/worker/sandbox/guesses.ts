import type { PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { Guess } from './guess.ts'
import type { GuessLuck } from './guess-luck.ts'

/** Most are taken within milliseconds. Those of workflows that were paused or deleted never are. */
const MOST_KEPT = 64

/** What was run ahead and waits to be asked for. A workflow has one phase at a time, and so at most one guess. */
export interface Guesses {
  put(guess: Guess): void
  /** False when the phase has to be run in its turn; otherwise `runInTurn` is called should that turn out later. */
  claim(request: PhaseRequest, resolve: (outcome: PhaseOutcome) => void, runInTurn: () => void): boolean
}

export function createGuesses(luck: GuessLuck): Guesses {
  const byWorkflow = new Map<string, Guess>()

  const missed = ({ phase, request }: Guess): void => {
    if (phase === 'prepare') luck.missed(request)
  }

  return {
    put(guess) {
      const { workflowId } = guess.request
      byWorkflow.delete(workflowId)
      const [oldest] = byWorkflow.keys()
      if (oldest !== undefined && byWorkflow.size >= MOST_KEPT) byWorkflow.delete(oldest)
      byWorkflow.set(workflowId, guess)
    },
    claim(request, resolve, runInTurn) {
      const guess = byWorkflow.get(request.workflowId)
      if (guess === undefined) return false
      byWorkflow.delete(request.workflowId)
      const isClaimed = guess.claim({
        request,
        resolve(outcome) {
          if (guess.phase === 'prepare') luck.hit(request)
          resolve(outcome)
        },
        runInstead() {
          missed(guess)
          runInTurn()
        },
      })
      if (!isClaimed) missed(guess)
      return isClaimed
    },
  }
}
