import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSystemClock } from '#worker/system-clock.ts'

const HOUR = 3_600_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('wakes once, at the time and not before', () => {
  const wake = vi.fn()
  createSystemClock().wakeAt(Date.now() + HOUR, wake)
  vi.advanceTimersByTime(HOUR - 1)
  expect(wake).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(wake).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(HOUR)
  expect(wake).toHaveBeenCalledTimes(1)
})

test.each([
  ['the computer slept through the time', 2 * HOUR],
  ['the clock was set back', -2 * HOUR],
])('wakes soon after %s, and not when the timer would have come', (_, jump) => {
  const wake = vi.fn()
  createSystemClock().wakeAt(Date.now() + HOUR, wake)
  vi.advanceTimersByTime(1000)
  vi.setSystemTime(Date.now() + jump)
  vi.advanceTimersByTime(HOUR / 10)
  expect(wake).toHaveBeenCalledTimes(1)
})

test('does not wake when it was taken back, also after the first comparison', () => {
  const wake = vi.fn()
  const cancel = createSystemClock().wakeAt(Date.now() + HOUR, wake)
  vi.advanceTimersByTime(HOUR / 2)
  cancel()
  vi.advanceTimersByTime(HOUR)
  expect(wake).not.toHaveBeenCalled()
})

test('a time further away than any timer reaches does not come at once', () => {
  const wake = vi.fn()
  createSystemClock().wakeAt(Date.now() + 2 ** 32, wake)
  vi.advanceTimersByTime(HOUR)
  expect(wake).not.toHaveBeenCalled()
})
