import { expect, test } from 'vitest'
import type { EnginePorts } from '#engine/runtime/ports.ts'
import { dieAtEveryOpportunity, expectEveryCrashPoint, liveAndJudge, newCensus } from './simulated-lives.ts'

test('where several transitions are one commit, no moment to die loses an event or repeats a mutation by itself', async () => {
  const census = newCensus()
  for (let seed = 1; census.lives < 2500; seed += 1) await dieAtEveryOpportunity(seed, census, { runsAhead: true })
  expect(census.takenAhead).toBeGreaterThan(1000)
}, 600_000)

test('where several transitions are one commit, a tab that dies again and again keeps every promise', async () => {
  const census = newCensus()
  for (let seed = 200_000; census.lives < 2500; seed += 1) {
    await liveAndJudge({ seed, maxDeaths: 6, runsAhead: true }, census)
  }
  expectEveryCrashPoint(census)
  expect(census.takenAhead).toBeGreaterThan(1000)
}, 600_000)

/** Every third commit of several transitions fails when all of its work is done. */
const failingCommits = (): ((ports: EnginePorts) => EnginePorts) => {
  let groups = 0
  return (ports) => ({
    ...ports,
    store: {
      ...ports.store,
      together: (work) =>
        ports.store.together(() => {
          const value = work()
          groups += 1
          if (groups % 3 === 0) throw new Error('The commit failed.')
          return value
        }),
    },
  })
}

test('where a commit of several transitions fails now and then, all the same nothing is lost or repeated', async () => {
  const census = newCensus()
  for (let seed = 300_000; census.lives < 1500; seed += 1) {
    await liveAndJudge({ seed, maxDeaths: 4, runsAhead: true, sabotage: failingCommits() }, census)
  }
  expect(census.takenAhead).toBeGreaterThan(500)
}, 600_000)
