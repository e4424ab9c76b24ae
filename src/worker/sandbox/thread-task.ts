import type { Failure } from '#engine/model/errors.ts'
import { err, type Result } from '#engine/model/result.ts'
import type { PhaseOutcome, PhaseRequest, WorkflowShape } from '#engine/ports/sandbox.ts'
import { limitFailure, resolveLimits } from './limits.ts'
import { answerCalls, phaseToJob } from './phase-link.ts'
import type { FromThread, ToThread } from './thread.ts'
import type { Watchdog } from './watchdog.ts'

/** What a task may do with the thread that it has to itself. */
export interface ThreadGrip {
  post(message: ToThread): void
  readonly watchdog: Watchdog
  /** The script of the phase before: its code is there already. */
  readonly knownScriptId: string | null
}

/** One thing to be done by one thread. Ends exactly once: when `hear` returns true, or by `fail`. */
export interface ThreadTask {
  /** Who wants it: threads are shared fairly among them. */
  readonly key: string
  readonly scriptId: string | null
  /** What a person is told when the thread had to be ended. */
  readonly tooLong: Failure
  start(grip: ThreadGrip): void
  hear(message: FromThread): boolean
  fail(failure: Failure): void
}

/** Made once: an error with its stack for every phase would be the dearest thing about it. */
const OVER = new DOMException('The phase is over.', 'AbortError')

export function createPhaseTask(request: PhaseRequest, resolve: (outcome: PhaseOutcome) => void): ThreadTask {
  const { host, workflowId, scriptId } = request
  const { cpuMs } = resolveLimits(request.limits)
  const abort = new AbortController()
  let grip: ThreadGrip | undefined
  let delivered = 0

  const end = (outcome: PhaseOutcome): void => {
    abort.abort(OVER)
    resolve(outcome)
  }

  return {
    key: workflowId,
    scriptId,
    tooLong: limitFailure('cpuMs', cpuMs),
    start(given) {
      grip = given
      grip.watchdog.watch(cpuMs)
      const { code, operations, ...job } = phaseToJob(request)
      grip.post({ type: 'phase', job: given.knownScriptId === scriptId ? job : { ...job, code, operations } })
    },
    hear(message) {
      if (message.type === 'loaded') grip?.watchdog.rewatch(cpuMs)
      if (message.type === 'log') host.log(message.level, message.message)
      if (message.type === 'turn') {
        // Replies that were on their way when the turn ended keep it computing.
        if (message.taken === delivered) grip?.watchdog.rest()
        else grip?.watchdog.rewatch(cpuMs)
        answerCalls(host, message.calls, abort.signal, (delivery) => {
          delivered += 1
          // The script is over, whatever its thread still has to do about it: nobody has to wait for that.
          if (delivery.reply.kind === 'end') resolve({ kind: 'ended' })
          grip?.watchdog.watch(cpuMs)
          grip?.post({ type: 'reply', delivery })
        })
      }
      if (message.type !== 'done') return false
      end(message.outcome)
      return true
    },
    fail: (failure) => end({ kind: 'failed', failure }),
  }
}

export function createDescribeTask(
  code: string,
  resolve: (shape: Result<WorkflowShape | null, Failure>) => void,
): ThreadTask {
  const { cpuMs } = resolveLimits()
  return {
    key: '',
    scriptId: null,
    tooLong: limitFailure('cpuMs', cpuMs),
    start({ post, watchdog }) {
      // Once to evaluate the script, once to look at what it made.
      watchdog.watch(2 * cpuMs)
      post({ type: 'describe', code })
    },
    hear(message) {
      if (message.type !== 'described') return false
      resolve(message.shape)
      return true
    },
    fail: (failure) => resolve(err(failure)),
  }
}
