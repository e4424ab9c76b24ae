import type { Clock } from '../ports/clock.ts'
import type { AbortSignalLike } from '../ports/sandbox.ts'
import { createAbort } from './abort.ts'

/** Whatever `start` is still doing at the deadline is aborted and no longer listened to; `late` is the answer then. */
export const withDeadline = async <T>(
  clock: Clock,
  timeoutMs: number,
  start: (signal: AbortSignalLike) => Promise<T>,
  late: () => T,
): Promise<T> => {
  const { signal, abort } = createAbort()
  let cancel = (): void => undefined
  const deadline = new Promise<T>((resolve) => {
    cancel = clock.wakeAt(clock.now() + timeoutMs, () => {
      resolve(late())
      abort()
    })
  })
  try {
    return await Promise.race([start(signal), deadline])
  } finally {
    cancel()
  }
}

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.wakeAt(clock.now() + ms, resolve)
  })
