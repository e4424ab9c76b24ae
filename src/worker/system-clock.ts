import type { Clock } from '#engine/ports/clock.ts'

/** setTimeout holds 31 bits; a longer wait would fire at once. Waking early is harmless: the scheduler looks and waits again. */
const longestTimeoutMs = 2 ** 31 - 1

export const createSystemClock = (): Clock => ({
  now: () => Date.now(),
  wakeAt: (at, wake) => {
    const timer = setTimeout(wake, Math.min(Math.max(0, at - Date.now()), longestTimeoutMs))
    return () => clearTimeout(timer)
  },
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
})
