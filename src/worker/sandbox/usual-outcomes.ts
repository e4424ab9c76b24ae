import type { JsonText } from '#engine/model/json.ts'
import type { PhaseRequest } from '#engine/ports/sandbox.ts'

const MOST_KNOWN = 256
const LONGEST = 4096

type Handler = Pick<PhaseRequest, 'scriptId' | 'handler'>

/**
 * What `next` of a handler was told of its mutation, where that was the same twice in a row. Many tools answer nothing, or the same
 * whenever all is well; one that answers with a new id each time is not guessed.
 */
export interface UsualOutcomes {
  of(handler: Handler): JsonText | undefined
  learn(request: PhaseRequest): void
}

export function createUsualOutcomes(): UsualOutcomes {
  const known = new Map<string, { outcome: JsonText; isUsual: boolean }>()
  const keyOf = ({ scriptId, handler }: Handler): string => `${scriptId} ${handler}`
  return {
    of(handler) {
      const last = known.get(keyOf(handler))
      return last?.isUsual === true ? last.outcome : undefined
    },
    learn({ phase, args, ...handler }) {
      const [, outcome] = args
      if (phase !== 'next' || outcome === undefined || outcome.length > LONGEST) return
      const key = keyOf(handler)
      const last = known.get(key)
      if (last?.outcome === outcome) {
        last.isUsual = true
        return
      }
      if (known.size >= MOST_KNOWN && !known.has(key)) known.clear()
      known.set(key, { outcome, isUsual: false })
    },
  }
}
