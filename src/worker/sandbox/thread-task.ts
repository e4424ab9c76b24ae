import type { Failure } from '#engine/model/errors.ts'
import { err, type Result } from '#engine/model/result.ts'
import type { WorkflowShape } from '#engine/ports/sandbox.ts'
import { limitFailure, resolveLimits } from './limits.ts'
import type { FromThread, ToThread } from './thread.ts'
import type { ScriptsAtHand } from './scripts-at-hand.ts'
import type { Watchdog } from './watchdog.ts'

/** What a task may do with the thread that it has to itself. */
export interface ThreadGrip {
  post(message: ToThread): void
  readonly watchdog: Watchdog
  readonly scripts: ScriptsAtHand
}

/** One thing to be done by one thread. Ends exactly once: when `hear` returns true, or by `fail`. */
export interface ThreadTask {
  /** Who wants it: threads are shared fairly among them. */
  readonly key: string
  readonly scriptId: string | null
  /** What a person is told when the thread had to be ended. */
  readonly tooLong: Failure
  /** It is sure to be done in so many milliseconds, unless it hangs. */
  readonly briefMs?: number
  start(grip: ThreadGrip): void
  hear(message: FromThread): boolean
  fail(failure: Failure): void
  /** Once it has ended: what its thread went on with by itself. */
  following?(): ThreadTask | undefined
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
