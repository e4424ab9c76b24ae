import { test } from 'vitest'
import { liveAndJudge, newCensus } from './simulated-lives.ts'

const seed = Number(process.env['HOLDFAST_SIM_SEED'] ?? 1)
const death = process.env['HOLDFAST_SIM_DEATH']

test('one seed is one life, the same every time', async () => {
  const choice = death === undefined ? { seed, maxDeaths: 6 } : { seed, firstDeathAt: Number(death), maxDeaths: 1 }
  await liveAndJudge(choice, newCensus())
})
