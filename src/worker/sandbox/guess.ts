import type { ForeseenAnswer, PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { JsonText } from '#engine/model/json.ts'
import { FRESH_MS, type FollowingJob } from './phase-link.ts'
import { takeEnding } from './phase-ending.ts'
import type { AheadResult } from './thread.ts'

/** The phase has been asked for. */
export interface Claim {
  request: PhaseRequest
  resolve(outcome: PhaseOutcome): void
  /** It wanted something that only its host can tell. */
  runInstead(): void
}

/** A phase that is run before it is asked for. It has its outcome only once somebody claims it. */
export interface Guess {
  readonly request: PhaseRequest
  readonly phase: FollowingJob['phase']
  /** False when this is not what was guessed: then nothing comes of it. */
  claim(claim: Claim): boolean
  /** What its thread says: the result of this one, and of those that follow it. */
  settle(results: readonly AheadResult[]): void
}

export interface GuessParts {
  /** The phase before it. */
  request: PhaseRequest
  /** What that one returned. */
  value: JsonText | undefined
  following: FollowingJob
  /** The time that it saw. */
  at?: number
  /** The guess that follows this one, known once this one is taken. */
  wentOn(guess: Guess): void
}

export function createGuess({ request: before, value, following, at, wentOn }: GuessParts): Guess {
  const { phase, foreseen, then } = following
  const argument = value ?? following.orElse
  let claimed: (Claim & { answer: ForeseenAnswer | undefined }) | undefined
  let settled: readonly AheadResult[] | undefined

  const isAskedFor = ({ workflowId, scriptId, handler, args, values, limits, ...request }: PhaseRequest): boolean =>
    request.phase === phase &&
    workflowId === before.workflowId &&
    scriptId === before.scriptId &&
    handler === before.handler &&
    args.length === 1 &&
    args[0] === argument &&
    values === undefined &&
    JSON.stringify(limits) === JSON.stringify(before.limits)

  const isFresh = ({ host }: PhaseRequest): boolean =>
    phase !== 'prepare' || at === undefined || Math.abs(host.now() - at) <= FRESH_MS

  const meet = (): void => {
    if (claimed === undefined || settled === undefined) return
    const { request, answer, resolve, runInstead } = claimed
    const [result, ...others] = settled
    if (result === undefined || result.ending === null) {
      runInstead()
      return
    }
    const { ending, logs, tookForeseen } = result
    if (tookForeseen) answer?.taken()
    for (const { level, message } of logs) request.host.log(level, message)
    if (then !== undefined && others.length > 0 && 'outcome' in ending && ending.outcome.kind === 'returned') {
      const next = createGuess({ request, value: ending.outcome.value, following: then, wentOn })
      next.settle(others)
      wentOn(next)
    }
    takeEnding(request.host, ending, resolve)
  }

  return {
    request: before,
    phase,
    claim(claim) {
      const { request } = claim
      if (!isAskedFor(request) || !isFresh(request)) return false
      const answer = foreseen && request.host.foresee?.(foreseen.op, foreseen.args)
      if (answer?.value !== foreseen?.value) return false
      claimed = { ...claim, answer }
      meet()
      return true
    },
    settle(results) {
      settled = results
      meet()
    },
  }
}
