import type { PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { ChainAhead } from './chain-ahead.ts'
import type { GuessLuck } from './guess-luck.ts'
import type { PhaseAhead } from './walk-ahead.ts'

/** Most are taken within milliseconds. Those of workflows that were paused or deleted never are. */
const MOST_KEPT = 64

/** What was run ahead and waits to be asked for: of each handler what was last begun. */
export interface ChainsAhead {
  put(chain: ChainAhead): void
  take(request: PhaseRequest): PhaseOutcome | undefined
  /** False when the phase has to be run in its turn; otherwise `runInTurn` is called should that turn out later. */
  claim(request: PhaseRequest, resolve: (outcome: PhaseOutcome) => void, runInTurn: () => void): boolean
}

export function createChainsAhead(luck: GuessLuck): ChainsAhead {
  const chains = new Map<string, ChainAhead>()
  const keyOf = ({ workflowId, handler }: Pick<PhaseRequest, 'workflowId' | 'handler'>): string =>
    `${workflowId} ${handler}`

  const drop = (chain: ChainAhead): void => {
    const key = keyOf(chain.handler)
    if (chains.get(key) === chain) chains.delete(key)
  }

  const hit = (chain: ChainAhead, phase: PhaseAhead['phase']): void => {
    luck.hit(chain.handler, phase)
    if (chain.phase === undefined) drop(chain)
  }

  const missed = (chain: ChainAhead, phase: PhaseAhead['phase']): void => {
    luck.missed(chain.handler, phase)
    drop(chain)
  }

  return {
    put(chain) {
      const key = keyOf(chain.handler)
      chains.delete(key)
      const [oldest] = chains.keys()
      if (oldest !== undefined && chains.size >= MOST_KEPT) chains.delete(oldest)
      chains.set(key, chain)
    },
    take(request) {
      const chain = chains.get(keyOf(request))
      const phase = chain?.phase
      const outcome = chain?.take(request)
      if (outcome !== undefined && chain !== undefined && phase !== undefined) hit(chain, phase)
      return outcome
    },
    claim(request, resolve, runInTurn) {
      const chain = chains.get(keyOf(request))
      // A producer may be called what a consumer is called.
      if (chain?.phase === undefined || request.phase === 'producer') return false
      const { phase } = chain
      const isClaimed = chain.claim({
        request,
        resolve(outcome) {
          hit(chain, phase)
          resolve(outcome)
        },
        runInstead(wasWrong) {
          if (wasWrong) missed(chain, phase)
          else drop(chain)
          runInTurn()
        },
      })
      // Where another phase is asked for, the attempt has taken another way: that says nothing of what was guessed.
      if (!isClaimed && phase === request.phase) missed(chain, phase)
      else if (!isClaimed) drop(chain)
      return isClaimed
    },
  }
}
