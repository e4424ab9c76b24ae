import { expect, test } from 'vitest'
import { liveWithSchedules } from '../support/simulation/schedule-life.ts'

test('for a year, through daylight saving, sleeps, deaths and clocks set both ways, each beat is served, and none twice', async () => {
  const life = await liveWithSchedules(1, 1)
  expect(life.problems).toEqual([])
  expect(life.runs).toBeGreaterThan(500)
  expect(Math.min(life.deaths, life.setBacks, life.slept)).toBeGreaterThan(2)
}, 120_000)
