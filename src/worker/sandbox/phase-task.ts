import type { ForeseenAnswer, PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import { createAheadTask } from './ahead-task.ts'
import { createChainAhead, type ChainAhead } from './chain-ahead.ts'
import { followingJob, type Foresight } from './following-job.ts'
import { limitFailure, resolveLimits } from './limits.ts'
import { answerCalls, MOST_AHEAD_CHARS, phaseToJob, type FollowingJob, type PhaseJob } from './phase-link.ts'
import { tellNoted } from './noted-calls.ts'
import { takeEnding } from './phase-ending.ts'
import type { PhaseEnding } from './thread.ts'
import type { ThreadGrip, ThreadTask } from './thread-task.ts'

/** Made once: an error with its stack for every phase would be the dearest thing about it. */
const OVER = new DOMException('The phase is over.', 'AbortError')

export interface PhaseTaskParts extends Foresight {
  /** The thread has gone on with the phases that follow. */
  wentOn(chain: ChainAhead): void
}

export function createPhaseTask(
  request: PhaseRequest,
  { wentOn, ...foresight }: PhaseTaskParts,
  resolve: (outcome: PhaseOutcome) => void,
): ThreadTask {
  const { host, workflowId, scriptId } = request
  const { cpuMs } = resolveLimits(request.limits)
  const { firstCalls, usualOutcomes } = foresight
  const guess = request.phase === 'prepare' ? firstCalls.ofPrepare(request) : undefined
  let abort: AbortController | undefined
  let foreseen: ForeseenAnswer | undefined
  let grip: ThreadGrip | undefined
  let then: FollowingJob | undefined
  let following: ThreadTask | undefined
  let delivered = 0
  let turns = 0
  let isOver = false
  const signal = (): AbortSignal => (abort ??= new AbortController()).signal
  const noted = tellNoted(host, signal)

  const end = (outcome: PhaseOutcome): void => {
    isOver = true
    abort?.abort(OVER)
    resolve(outcome)
  }

  const jobToPost = (): PhaseJob => {
    const job = phaseToJob(request)
    foreseen = guess && host.foresee?.(guess.op, guess.args)
    if (guess !== undefined && foreseen !== undefined)
      job.foreseen = { op: guess.op, args: guess.args, value: foreseen.value }
    then = followingJob(request, foresight)
    if (then !== undefined) job.then = then
    return job
  }

  /** Before anything else of the same message: the answer came before whatever the script did with it. */
  const noteTaken = (tookForeseen = false): void => {
    if (!tookForeseen) return
    foreseen?.taken()
    foreseen = undefined
    turns = 1
  }

  const learn = (ending: PhaseEnding): void => {
    if (turns === 0) firstCalls.learn(request, [])
    if (request.phase !== 'prepare' || !('outcome' in ending) || ending.outcome.kind !== 'returned') return
    const { value } = ending.outcome
    if (value !== undefined && value.length <= MOST_AHEAD_CHARS) firstCalls.learnReserved(request, value)
  }

  return {
    key: workflowId,
    scriptId,
    tooLong: limitFailure('cpuMs', cpuMs),
    start(given) {
      grip = given
      grip.watchdog.watch(cpuMs)
      usualOutcomes.learn(request)
      const { code, operations, mutations, ...job } = jobToPost()
      if (given.scripts.has(scriptId)) grip.post({ type: 'phase', job })
      else {
        const forget = given.scripts.add(scriptId)
        const withScript = { ...job, code, operations, mutations: mutations ?? [] }
        grip.post({ type: 'phase', job: withScript, ...(forget === undefined ? {} : { forget }) })
      }
    },
    hear(message) {
      if (message.type === 'loaded') grip?.watchdog.rewatch(cpuMs)
      if (message.type === 'log') host.log(message.level, message.message)
      if (message.type === 'noted') noted.tell(message.noted)
      if (message.type === 'turn') {
        noteTaken(message.tookForeseen)
        noted.tell(message.noted)
        turns += 1
        if (turns === 1) firstCalls.learn(request, message.calls)
        // Replies that were on their way when the turn ended keep it computing.
        if (message.taken === delivered) grip?.watchdog.rest()
        else grip?.watchdog.rewatch(cpuMs)
        answerCalls(host, message.calls, signal(), (delivery) => {
          delivered += 1
          // The script is over, whatever its thread still has to do about it: nobody has to wait for that.
          if (delivery.reply.kind === 'end') resolve({ kind: 'ended' })
          grip?.watchdog.watch(cpuMs)
          grip?.post({ type: 'reply', delivery })
        })
      }
      if (message.type !== 'done' || isOver) return false
      // From here on its thread has something else to do, and an answer that still comes is not for that.
      grip = undefined
      noteTaken(message.tookForeseen)
      noted.tell(message.noted)
      const { ending, goesOn = false } = message
      learn(ending)
      if (goesOn && then !== undefined) {
        const chain = createChainAhead(request, ending, then)
        following = createAheadTask(request, chain)
        wentOn(chain)
      }
      noted.whenAgreed((refusal) => {
        if (refusal === undefined) takeEnding(host, ending, end)
        else end({ kind: 'failed', failure: refusal })
      })
      return true
    },
    fail: (failure) => end({ kind: 'failed', failure }),
    following: () => following,
  }
}
