import { createWatchdog } from '#worker/sandbox/watchdog.ts'
import { startWallClock } from '#worker/sandbox/wall-clock.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watched() {
  const seen: string[] = []
  const dog = createWatchdog(
    () => seen.push('asked'),
    () => seen.push('gave up'),
  )
  return { dog, seen }
}

test('whoever is silent beyond the limit is asked, and given up only when it does not answer', () => {
  const { dog, seen } = watched()
  dog.watch(5_000)
  vi.advanceTimersByTime(4_999)
  expect(seen).toEqual([])
  vi.advanceTimersByTime(1)
  expect(seen).toEqual(['asked'])
  vi.advanceTimersByTime(1_000)
  expect(seen).toEqual(['asked', 'gave up'])
})

test('whoever answers has its time anew', () => {
  const { dog, seen } = watched()
  dog.watch(5_000)
  vi.advanceTimersByTime(5_500)
  dog.answered()
  vi.advanceTimersByTime(4_999)
  expect(seen).toEqual(['asked'])
})

test('being watched again while watched gains no time', () => {
  const { dog, seen } = watched()
  dog.watch(5_000)
  for (let i = 0; i < 6; i += 1) {
    vi.advanceTimersByTime(1_000)
    dog.watch(5_000)
  }
  expect(seen).toEqual(['asked', 'gave up'])
})

test('whoever waits for us may be silent for ever', () => {
  const { dog, seen } = watched()
  dog.watch(5_000)
  dog.rest()
  dog.answered()
  vi.advanceTimersByTime(1e9)
  expect(seen).toEqual([])
})

test('a shorter time after a longer one is noticed when it is up, and not later', () => {
  const { dog, seen } = watched()
  dog.watch(10_000)
  dog.rest()
  dog.watch(2_000)
  vi.advanceTimersByTime(2_000)
  expect(seen).toEqual(['asked'])
})

test('whoever rests and is watched again has its whole time', () => {
  const { dog, seen } = watched()
  dog.watch(5_000)
  vi.advanceTimersByTime(3_000)
  dog.rest()
  dog.watch(5_000)
  vi.advanceTimersByTime(4_999)
  expect(seen).toEqual([])
  vi.advanceTimersByTime(1)
  expect(seen).toEqual(['asked'])
})

test('the wall clock rings when its time is up', async () => {
  const wall = startWallClock(2_500)
  let hasRung = false
  void wall.expired.then(() => (hasRung = true))
  await vi.advanceTimersByTimeAsync(2_400)
  expect(hasRung).toBe(false)
  await vi.advanceTimersByTimeAsync(200)
  expect(hasRung).toBe(true)
})

test('hours of sleep count as two seconds on the wall', async () => {
  let slept = 0
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + slept)
  const wall = startWallClock(60_000)
  let hasRung = false
  void wall.expired.then(() => (hasRung = true))
  await vi.advanceTimersByTimeAsync(500)
  slept = 8 * 3_600_000
  await vi.advanceTimersByTimeAsync(50_000)
  expect(hasRung).toBe(false)
  wall.stop()
  vi.restoreAllMocks()
})
