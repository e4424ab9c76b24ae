import { expect, test } from 'vitest'
import { loadSqlJs } from '../support/open-test-store.ts'
import { liveWithSession } from '../support/simulation/session-life.ts'

const blocks = Array.from({ length: 40 }, (_, n) => 1000 + n * 100)

test.each(blocks)(
  'a hundred sessions in tabs that die, from seed %i on',
  async (first) => {
    const sqlJs = await loadSqlJs()
    for (let seed = first; seed < first + 100; seed += 1) {
      const life = await liveWithSession({ seed, sqlJs, maxDeaths: 6 })
      expect(life.problems, `seed ${String(seed)}, died at ${life.deaths.join(', ')}`).toEqual([])
    }
  },
  600_000,
)

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a session killed at every opportunity of its first life, seed %i',
  async (seed) => {
    const sqlJs = await loadSqlJs()
    for (let firstDeathAt = 1; ; firstDeathAt += 1) {
      const life = await liveWithSession({ seed, sqlJs, firstDeathAt, maxDeaths: 1 })
      expect(life.problems, `seed ${String(seed)}, death ${String(firstDeathAt)}`).toEqual([])
      if (life.firstLifeOpportunities < firstDeathAt) return
    }
  },
  600_000,
)
