import { expect, test } from 'vitest'
import { expectEveryCrashPoint, liveAndJudge, newCensus } from './simulated-lives.ts'

test('a tab that dies again and again at random moments keeps every promise', async () => {
  const census = newCensus()
  for (let seed = 100_000; census.lives < 5000; seed += 1) await liveAndJudge({ seed, maxDeaths: 6 }, census)
  expectEveryCrashPoint(census)
  expect(census.lives).toBeGreaterThanOrEqual(5000)
}, 600_000)
