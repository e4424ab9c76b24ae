import type { ForeseenAnswer, PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import { tellNoted } from './noted-calls.ts'
import { endingAtOnce, NEVER_ABORTED, takeEnding } from './phase-ending.ts'
import { FRESH_MS, type FollowingJob } from './phase-link.ts'
import type { AheadResult, PhaseEnding } from './thread.ts'
import { createWalkAhead, type PhaseAhead } from './walk-ahead.ts'

/** The phase has been asked for. */
export interface Claim {
  request: PhaseRequest
  resolve(outcome: PhaseOutcome): void
  /** `wasWrong`: it wanted something that only its host can tell, or nobody knows. Otherwise its thread just did not come so far. */
  runInstead(wasWrong: boolean): void
}

/** Phases of one handler that are run one after the other before they are asked for. Each has its outcome only once it is claimed. */
export interface ChainAhead {
  readonly handler: Pick<PhaseRequest, 'workflowId' | 'scriptId' | 'handler'>
  /** What is to be claimed next; undefined when there is nothing more to come. */
  readonly phase: PhaseAhead['phase'] | undefined
  /** False when this is not what was guessed: then nothing comes of the rest either. */
  claim(claim: Claim): boolean
  /** The same without waiting: undefined where that cannot be, and then nothing was claimed. */
  take(request: PhaseRequest): PhaseOutcome | undefined
  /** What its thread says; after the last there is nothing more to come. */
  hear(results: readonly AheadResult[], isLast: boolean): void
  /** Its thread has gone in the middle of it. */
  lose(): void
}

/** `before` is the phase after which its thread went on, and `ended` how that one ended. */
export function createChainAhead(before: PhaseRequest, ended: PhaseEnding, following: FollowingJob): ChainAhead {
  const { workflowId, scriptId, handler, args: argsBefore, limits: limitsBefore } = before
  const walk = createWalkAhead(following, argsBefore[0] ?? 'null')
  const results: AheadResult[] = []
  let expected = walk.after(before.phase, ended)
  let claimed: (Claim & { answer: ForeseenAnswer | undefined; askedAt: number }) | undefined
  let isOver = false
  let isLost = false

  const isAskedFor = ({ phase, args, values, limits, ...request }: PhaseRequest): boolean =>
    phase === expected?.phase &&
    request.workflowId === workflowId &&
    request.scriptId === scriptId &&
    request.handler === handler &&
    values === undefined &&
    args.length === expected.args.length &&
    args.every((text, index) => text === expected?.args[index]) &&
    isSame(limits, limitsBefore)

  /** What the topic shows now, if it still is what the phase was told. */
  const answerNow = ({ host }: PhaseRequest): ForeseenAnswer | 'changed' | undefined => {
    const foreseen = expected?.foreseen
    if (foreseen === undefined) return undefined
    const answer = host.foresee?.(foreseen.op, foreseen.args)
    return answer?.value === foreseen.value ? answer : 'changed'
  }

  /** Null when it wanted something that only its host can tell, or the time it saw was too long ago when it was asked for. */
  const endingFor = ({ ending, sawTime }: AheadResult, askedAt: number): PhaseEnding | null =>
    sawTime !== undefined && Math.abs(askedAt - sawTime) > FRESH_MS ? null : ending

  const goOn = (phase: string, ending: PhaseEnding): void => {
    results.shift()
    expected = walk.after(phase, ending)
  }

  const tellLogs = ({ host }: PhaseRequest, { logs, tookForeseen }: AheadResult, answer?: ForeseenAnswer): void => {
    if (tookForeseen) answer?.taken()
    for (const { level, message } of logs) host.log(level, message)
  }

  const meet = (): void => {
    if (claimed === undefined) return
    const [result] = results
    if (result === undefined && !isOver) return
    const { request, answer, askedAt, resolve, runInstead } = claimed
    claimed = undefined
    const ending = result === undefined ? null : endingFor(result, askedAt)
    if (result === undefined || ending === null) {
      expected = undefined
      runInstead(result !== undefined || isLost)
      return
    }
    const { noted: calls } = result
    tellLogs(request, result, answer)
    goOn(request.phase, ending)
    const noted = tellNoted(request.host, () => NEVER_ABORTED)
    noted.tell(calls)
    noted.whenAgreed((refusal) => {
      if (refusal === undefined) takeEnding(request.host, ending, resolve)
      else resolve({ kind: 'failed', failure: refusal })
    })
  }

  return {
    handler: { workflowId, scriptId, handler },
    get phase() {
      return expected?.phase
    },
    claim(claim) {
      const { request } = claim
      if (claimed !== undefined) return false
      const answer = isAskedFor(request) ? answerNow(request) : 'changed'
      if (answer === 'changed') return false
      claimed = { ...claim, answer, askedAt: request.host.now() }
      meet()
      return true
    },
    take(request) {
      const [result] = results
      const ending = result === undefined ? null : endingFor(result, request.host.now())
      if (result === undefined || ending === null || result.noted !== undefined) return undefined
      const answer = isAskedFor(request) ? answerNow(request) : 'changed'
      if (answer === 'changed') return undefined
      tellLogs(request, result, answer)
      goOn(request.phase, ending)
      return endingAtOnce(request.host, ending)
    },
    hear(more, isLast) {
      results.push(...more)
      isOver ||= isLast
      meet()
    },
    lose() {
      isOver = isLost = true
      meet()
    },
  }
}

type Limits = PhaseRequest['limits']

function isSame(one: Limits = {}, other: Limits = {}): boolean {
  const names = Object.keys(one) as (keyof typeof one)[]
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
