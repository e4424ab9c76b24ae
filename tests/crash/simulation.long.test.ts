import { test } from 'vitest'
import { dieAtEveryOpportunity, liveAndJudge, newCensus } from './simulated-lives.ts'

const wanted = Number(process.env['HOLDFAST_SIM_LIVES'] ?? 2_000_000)

test('millions of lives, none of which loses an event or repeats a mutation by itself', async () => {
  const census = newCensus()
  const firstSeed = 1_000_000 + Math.floor(Date.now() % 1_000_000_000)
  console.log(`First seed ${String(firstSeed)}, ${String(wanted)} lives.`)
  for (let seed = firstSeed; census.lives < wanted; seed += 1) {
    await liveAndJudge({ seed, maxDeaths: 8 }, census)
    if (seed % 10 === 0) await dieAtEveryOpportunity(seed, census)
  }
})
