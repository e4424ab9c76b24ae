import { expect, test } from 'vitest'
import { dieAtEveryOpportunity, newCensus } from './simulated-lives.ts'

test('whatever the moment at which the tab dies, no event is lost and no mutation is made twice by itself', async () => {
  const census = newCensus()
  for (let seed = 1; census.lives < 5000; seed += 1) await dieAtEveryOpportunity(seed, census)
  expect(census.lives).toBeGreaterThanOrEqual(5000)
}, 600_000)
