import { test } from 'vitest'
import { liveAndJudge, newCensus, shortLife } from './simulated-lives.ts'

const seed = Number(process.env['HOLDFAST_SIM_SEED'] ?? 1)
const runsAhead = process.env['HOLDFAST_SIM_AHEAD'] === '1'
const death = process.env['HOLDFAST_SIM_DEATH']

test('one seed is one life, the same every time', async () => {
  const choice = death === undefined ? { maxDeaths: 6 } : { firstDeathAt: Number(death), ...shortLife }
  await liveAndJudge({ seed, runsAhead, ...choice }, newCensus())
})
