import type { FollowingPhase, PhaseHost, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { FirstCalls } from './first-calls.ts'
import type { GuessLuck } from './guess-luck.ts'
import { chance, MOST_AHEAD_CHARS, type FollowingJob, type ForeseenCall } from './phase-link.ts'

export interface Foresight {
  firstCalls: FirstCalls
  luck: GuessLuck
}

/** What its thread is told of the phases after this one; nothing where they would probably be run for nothing. */
export function followingJob(request: PhaseRequest, foresight: Foresight): FollowingJob | undefined {
  const { host, then } = request
  if (then?.phase !== 'prepare') return then && toJob(host, then)
  if (!foresight.luck.isDue(request)) return undefined
  const foreseen = foreseeFirstCall(request, then, foresight.firstCalls)
  return foreseen && { ...toJob(host, then), foreseen }
}

const toJob = (host: PhaseHost, { phase, orElse, then }: FollowingPhase): FollowingJob => ({
  phase,
  seed: chance(host),
  ...(orElse === undefined ? {} : { orElse }),
  ...(then === undefined ? {} : { then: toJob(host, then) }),
})

/** With an empty list for an answer there is nothing to prepare. */
function foreseeFirstCall(
  request: PhaseRequest,
  { foresee }: FollowingPhase,
  firstCalls: FirstCalls,
): ForeseenCall | undefined {
  const first = firstCalls.ofPrepare(request)
  const answer = first && foresee?.(first.op, first.args)
  if (first === undefined || answer === undefined) return undefined
  const { value } = answer
  return value === '[]' || value.length > MOST_AHEAD_CHARS ? undefined : { op: first.op, args: first.args, value }
}
