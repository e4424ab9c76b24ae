import { test } from 'vitest'
import { liveAndJudge, newCensus, shortLife } from './simulated-lives.ts'

const seed = Number(process.env['HOLDFAST_SIM_SEED'] ?? 1)
const death = process.env['HOLDFAST_SIM_DEATH']

test('one seed is one life, the same every time', async () => {
  const choice = death === undefined ? { seed, maxDeaths: 6 } : { seed, firstDeathAt: Number(death), ...shortLife }
  await liveAndJudge(choice, newCensus())
})
