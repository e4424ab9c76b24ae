import { expect, test } from 'vitest'
import { liveWithSchedules } from '../support/simulation/schedule-life.ts'

const seeds = Array.from({ length: 30 }, (_, n) => n + 100)

test.each(seeds)(
  'five years of schedules, life %i',
  async (seed) => {
    const life = await liveWithSchedules(seed, 5)
    expect(life.problems).toEqual([])
  },
  600_000,
)
