import type { JsonText } from '#engine/model/json.ts'
import { textOfLook } from '#engine/script/topic-look.ts'
import { MOST_AHEAD_CHARS, type FollowingJob, type ForeseenCall } from './phase-link.ts'
import { reservationsIn } from './reserved-events.ts'
import type { PhaseEnding } from './thread.ts'

/** A phase that will probably be asked for. */
export interface PhaseAhead {
  phase: 'prepare' | 'mutate' | 'next'
  args: readonly JsonText[]
  foreseen?: ForeseenCall
}

export interface WalkAhead {
  /** What follows a phase that ended like this; undefined where nobody can tell, or far enough has been gone. */
  after(phase: string, ending: PhaseEnding): PhaseAhead | undefined
}

const NO_MUTATION = '{"status":"none"}'

/**
 * The way that the phases of a handler go if nothing comes between. The thread that runs ahead and the supervisor that waits for
 * somebody to ask walk it both, so that neither has to be told.
 */
export function createWalkAhead(
  { hasMutate, hasNext, goesOnWithMutate, goesOnWithNext, state: before, outcome, look, attempts }: FollowingJob,
  firstArgument: JsonText,
): WalkAhead {
  let state = before
  let prepared = firstArgument
  let left = look?.events ?? []
  let begun = 0

  /** What its `prepare` reserved is not shown to the next one. */
  const reserve = (value: JsonText): boolean => {
    const reservations = reservationsIn(value)
    const ids = new Set(reservations.filter(({ topic }) => topic === look?.topic).flatMap((each) => each.ids))
    if (ids.size > 0) left = left.filter(({ id }) => !ids.has(id))
    prepared = value
    return reservations.length > 0
  }

  const prepareNext = (): PhaseAhead | undefined => {
    if (look === undefined || begun >= attempts || left.length === 0) return undefined
    if (left.length < look.limit && !look.isAll) return undefined
    begun += 1
    const { op, args, limit } = look
    return { phase: 'prepare', args: [state], foreseen: { op, args, value: textOfLook({ limit, events: left }) } }
  }

  const settleWith = (mutation: JsonText | undefined): PhaseAhead | undefined => {
    if (!hasNext) return prepareNext()
    return mutation === undefined || !goesOnWithNext ? undefined : { phase: 'next', args: [prepared, mutation] }
  }

  return {
    after(phase, ending) {
      if ('lastCall' in ending) return settleWith(outcome)
      if (ending.outcome.kind !== 'returned') return undefined
      const { value } = ending.outcome
      if (value !== undefined && value.length > MOST_AHEAD_CHARS) return undefined
      if (phase === 'mutate') return settleWith(NO_MUTATION)
      if (phase === 'next') {
        state = value ?? state
        return prepareNext()
      }
      if (value === undefined || !reserve(value)) return undefined
      if (!hasMutate) return settleWith(NO_MUTATION)
      return goesOnWithMutate ? { phase: 'mutate', args: [value] } : undefined
    },
  }
}
