/** For the thread's own meter to speak first, and then for its answer to a ping. */
const GRACE_MS = 1_000

/**
 * Ends what cannot be interrupted. Silence alone proves nothing: this thread or the whole tab may have been asleep. So
 * when the time is up the other side is asked for a sign of life, and only if none comes is it given up.
 */
export interface Watchdog {
  /** The other side computes from now on. No effect while it is watched already: nothing it causes gains it time. */
  watch(limitMs: number): void
  /** It has its time anew. */
  rewatch(limitMs: number): void
  /** It answered: its event loop turns, and its own meter will end it if need be. */
  answered(): void
  /** It waits for us and may be silent as long as it likes. */
  rest(): void
}

export function createWatchdog(ask: () => void, giveUp: () => void): Watchdog {
  let timer: ReturnType<typeof setTimeout> | undefined
  let watchedMs: number | undefined

  const rewatch = (limitMs: number): void => {
    clearTimeout(timer)
    watchedMs = limitMs
    timer = setTimeout(() => {
      ask()
      timer = setTimeout(giveUp, GRACE_MS)
    }, limitMs)
  }

  return {
    rewatch,
    watch: (limitMs) => {
      if (watchedMs === undefined) rewatch(limitMs)
    },
    answered: () => {
      if (watchedMs !== undefined) rewatch(watchedMs)
    },
    rest: () => {
      clearTimeout(timer)
      watchedMs = undefined
    },
  }
}
