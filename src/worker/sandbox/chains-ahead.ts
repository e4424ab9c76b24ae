import type { PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { ChainAhead } from './chain-ahead.ts'
import type { GuessLuck } from './guess-luck.ts'

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

  const missed = (chain: ChainAhead, phase: ChainAhead['phase']): void => {
    drop(chain)
    if (phase === 'prepare' || phase === 'next') luck.missed(chain.handler, phase)
  }

  const hit = (request: PhaseRequest): void => {
    if (request.phase === 'prepare' || request.phase === 'next') luck.hit(request, request.phase)
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
      const outcome = chains.get(keyOf(request))?.take(request)
      if (outcome !== undefined) hit(request)
      return outcome
    },
    claim(request, resolve, runInTurn) {
      const chain = chains.get(keyOf(request))
      if (chain?.phase === undefined) return false
      const { phase } = chain
      const isClaimed = chain.claim({
        request,
        resolve(outcome) {
          hit(request)
          resolve(outcome)
        },
        runInstead() {
          missed(chain, phase)
          runInTurn()
        },
      })
      if (!isClaimed) missed(chain, phase)
      return isClaimed
    },
  }
}
