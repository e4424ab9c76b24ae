const TICK_MS = 1_000

/**
 * Time that passes on the wall while somebody could have worked. A tab that was frozen or a machine that slept skips
 * hours between two ticks; each gap counts as two ticks at most, so that waking up fails nobody.
 */
export interface WallClock {
  /** Resolves when the time is up; never after `stop`. */
  readonly expired: Promise<'expired'>
  stop(): void
}

export function startWallClock(limitMs: number): WallClock {
  let timer: ReturnType<typeof setTimeout> | undefined
  const expired = new Promise<'expired'>((resolve) => {
    const tick = (leftMs: number) => {
      const startedAt = performance.now()
      timer = setTimeout(
        () => {
          const passedMs = Math.min(performance.now() - startedAt, 2 * TICK_MS)
          if (passedMs >= leftMs) resolve('expired')
          else tick(leftMs - passedMs)
        },
        Math.min(leftMs, TICK_MS),
      )
    }
    tick(limitMs)
  })
  return { expired, stop: () => clearTimeout(timer) }
}
