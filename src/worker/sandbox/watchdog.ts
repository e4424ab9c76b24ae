/** For the thread's own meter to speak first, and then for its answer to a ping. */
const GRACE_MS = 1_000

/**
 * Ends what cannot be interrupted. Silence alone proves nothing: this thread or the whole tab may have been asleep. So
 * when the time is up the other side is asked for a sign of life, and only if none comes is it given up.
 */
export interface Watchdog {
  readonly isWatching: boolean
  /** The other side computes from now on. No effect while it is watched already: nothing it causes gains it time. */
  watch(limitMs: number): void
  /** It has its time anew. */
  rewatch(limitMs: number): void
  /** It answered: its event loop turns, and its own meter will end it if need be. */
  answered(): void
  /** It waits for us and may be silent as long as it likes. */
  rest(): void
  /** There is nobody left to be watched. */
  stop(): void
}

/** Phases come and go by the hundred, so a timer that is set stays, and looks whether it still means anything. */
export function createWatchdog(ask: () => void, giveUp: () => void): Watchdog {
  let timer: ReturnType<typeof setTimeout> | undefined
  let looksAt = Infinity
  let watched: { limitMs: number; until: number; wasAsked: boolean } | undefined

  const watchUntil = (limitMs: number, forMs: number, wasAsked: boolean): void => {
    watched = { limitMs, until: performance.now() + forMs, wasAsked }
    if (looksAt > watched.until) lookIn(forMs)
  }

  const lookIn = (ms: number): void => {
    clearTimeout(timer)
    looksAt = performance.now() + ms
    timer = setTimeout(look, ms)
  }

  const look = (): void => {
    looksAt = Infinity
    if (watched === undefined) return
    const leftMs = watched.until - performance.now()
    if (leftMs > 0) lookIn(leftMs)
    else if (watched.wasAsked) giveUp()
    else {
      watchUntil(watched.limitMs, GRACE_MS, true)
      ask()
    }
  }

  const rewatch = (limitMs: number): void => watchUntil(limitMs, limitMs, false)

  return {
    get isWatching() {
      return watched !== undefined
    },
    rewatch,
    watch: (limitMs) => {
      if (watched === undefined) rewatch(limitMs)
    },
    answered: () => {
      if (watched !== undefined) rewatch(watched.limitMs)
    },
    rest: () => {
      watched = undefined
    },
    stop: () => {
      clearTimeout(timer)
      watched = undefined
    },
  }
}
