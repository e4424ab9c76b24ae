import type { Clock } from '#engine/ports/clock.ts'

export interface HandClock extends Clock {
  /** Moves time on and wakes, in order, whoever is due on the way. */
  advance(ms: number): void
  /** Sets the clock, forwards or backwards, and wakes nobody: a computer that slept, or somebody who set it. */
  jump(ms: number): void
}

/** Time stands still until a test moves it. */
export function createHandClock(start = Date.UTC(2026, 0, 5, 9)): HandClock {
  let now = start
  let wakes: { at: number; wake: () => void }[] = []
  return {
    timezone: 'UTC',
    now: () => now,
    wakeAt(at, wake) {
      const entry = { at, wake }
      wakes.push(entry)
      return () => {
        wakes = wakes.filter((other) => other !== entry)
      }
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const due = wakes.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        wakes = wakes.filter((entry) => entry !== due)
        now = Math.max(now, due.at)
        due.wake()
      }
      now = end
    },
    jump(ms) {
      now += ms
    },
  }
}
