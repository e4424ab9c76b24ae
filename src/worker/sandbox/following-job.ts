import type { FollowingPhases, ForeseenAnswer, PhaseRequest, TopicLook } from '#engine/ports/sandbox.ts'
import type { FirstCalls } from './first-calls.ts'
import type { GuessLuck } from './guess-luck.ts'
import { chance, MOST_AHEAD_CHARS, type FollowingJob, type ForeseenLook } from './phase-link.ts'
import type { UsualOutcomes } from './usual-outcomes.ts'

export interface Foresight {
  firstCalls: FirstCalls
  usualOutcomes: UsualOutcomes
  luck: GuessLuck
  /** However good its luck: others may want the thread too. */
  mostAttempts(workflowId: string): number
  /** A thread of this workflow runs ahead for longer than it may: it hangs, or computes for long. */
  isHeldUp(workflowId: string): boolean
}

/** What its thread is told of the phases after this one. */
export function followingJob(request: PhaseRequest, foresight: Foresight): FollowingJob | undefined {
  const { host, phase, then } = request
  // Otherwise a workflow with many such handlers would have a thread for each, where it has one without running ahead.
  if (then === undefined || foresight.isHeldUp(request.workflowId)) return undefined
  const { luck, mostAttempts } = foresight
  const attempts = Math.min(luck.attemptsAhead(request, 'prepare'), mostAttempts(request.workflowId))
  const look = attempts === 0 ? undefined : lookAhead(request, then, attempts, foresight.firstCalls)
  if (phase === 'next' && look === undefined) return undefined
  const goesOnWithMutate = luck.attemptsAhead(request, 'mutate') > 0
  const goesOnWithNext = luck.attemptsAhead(request, 'next') > 0
  const outcome = goesOnWithNext ? foresight.usualOutcomes.of(request) : undefined
  const { hasMutate, hasNext, state, publishing } = then
  return {
    hasMutate,
    hasNext,
    state,
    attempts,
    goesOnWithMutate,
    goesOnWithNext,
    seed: chance(host),
    ...(look === undefined ? {} : { look }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(publishing === undefined ? {} : { publishing }),
  }
}

/** What `prepare` would be shown, once and, should it reserve as many events as the last time, time and again. */
function lookAhead(
  request: PhaseRequest,
  { foresee }: FollowingPhases,
  attempts: number,
  firstCalls: FirstCalls,
): ForeseenLook | undefined {
  const first = firstCalls.ofPrepare(request)
  if (first === undefined) return undefined
  const { op, args, reserves } = first
  // What this phase reserves, should it be a `prepare`, is the first of it.
  const lots = request.phase === 'prepare' ? attempts : attempts - 1
  const answer = foresee?.(op, args)
  if (answer === undefined || answer.look.events.length === 0 || answer.value.length > MOST_AHEAD_CHARS)
    return undefined
  const beyond = Math.min(lots * reserves, roomBeyond(answer))
  const { look } = (beyond > 0 ? foresee?.(op, args, beyond) : undefined) ?? answer
  return { op, args, ...within(look, MOST_AHEAD_CHARS) }
}

/** For so many more events, if they are like those. What has no room would be read from the database for nothing. */
const roomBeyond = ({ value, look }: ForeseenAnswer): number =>
  Math.floor((MOST_AHEAD_CHARS - value.length) / (value.length / look.events.length))

/** As many of its events as fit; those that are shown first fit in any case. */
function within(look: TopicLook, mostChars: number): TopicLook {
  let chars = 0
  const tooMuch = look.events.findIndex(({ text }, index) => (chars += text.length) > mostChars && index >= look.limit)
  return tooMuch < 0 ? look : { ...look, events: look.events.slice(0, tooMuch), isAll: false }
}
