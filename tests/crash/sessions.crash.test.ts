import { expect, test } from 'vitest'
import { sessionStates } from '#engine/model/session.ts'
import { loadSqlJs } from '../support/open-test-store.ts'
import { liveWithSession } from '../support/simulation/session-life.ts'

test('whatever fails, is paused, cancelled, retried or added, and wherever tabs die, sessions keep to a legal order and end', async () => {
  const sqlJs = await loadSqlJs()
  const ends = new Map<string, number>()
  let deaths = 0
  for (let seed = 1; seed <= 120; seed += 1) {
    const life = await liveWithSession({ seed, sqlJs })
    expect(life.problems, `seed ${String(seed)}, died at ${life.deaths.join(', ')}`).toEqual([])
    ends.set(life.end, (ends.get(life.end) ?? 0) + 1)
    deaths += life.deaths.length
  }
  expect(deaths).toBeGreaterThan(50)
  expect([...ends.keys()].sort()).toEqual(
    ['cancelled', 'completed', 'failed'].filter((end) => sessionStates.includes(end as never)),
  )
}, 120_000)
