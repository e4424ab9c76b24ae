import type { Clock } from '#engine/ports/clock.ts'

/**
 * Timers count the time that the computer is awake, while `at` is a time on the clock. After a sleep, or when somebody sets the
 * clock, a long timer would come late by that much. So the clock is compared every half a minute, which asks nobody anything.
 */
const compareEveryMs = 30_000

export const createSystemClock = (): Clock => ({
  now: () => Date.now(),
  wakeAt: (at, wake) => {
    let timer: ReturnType<typeof setTimeout>
    const wait = (): void => {
      const before = Date.now()
      timer = setTimeout(
        () => {
          const now = Date.now()
          // Set back: whoever waits has to plan anew.
          if (now >= at || now < before) wake()
          else wait()
        },
        Math.min(Math.max(0, at - before), compareEveryMs),
      )
    }
    wait()
    return () => clearTimeout(timer)
  },
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
})
