import { expect, test } from 'vitest'
import { agent, sendTask } from '../../support/agents.ts'
import { openSessionWorld, type SessionWorld } from '../../support/session-world.ts'

/** A session that stands still in the middle: `a` completed, `b` at its mutation, `c` waits for it. */
const midway = async (): Promise<SessionWorld> => {
  const world = await openSessionWorld()
  world.box.answers.push('never')
  const id = await world.create([
    agent('a'),
    agent('b', { dependsOn: ['a'], source: sendTask }),
    agent('c', { dependsOn: ['b'] }),
  ])
  await world.engine.startSession(id)
  await world.until(() => world.box.calls.length === 1)
  return world
}

const agentIs = (key: string, change: string): string => `UPDATE session_agents SET ${change} WHERE "key" = '${key}'`

test.each([
  [
    'UPDATE sessions SET completed_agents = 2',
    /counts 3 agents, 2 completed and 0 failed, but its rows say 3, 1 and 0/,
  ],
  [`UPDATE sessions SET state = 'paused'`, /is running, but its session .* is paused/],
  [agentIs('b', `state = 'paused'`), /is paused, but its session .* is running/],
  [`UPDATE workflows SET status = 'paused' WHERE name = 'b'`, /is running, but its workflow .* is paused/],
  [agentIs('b', `state = 'blocked'`), /is blocked, but its workflow .* is not blocked/],
  [agentIs('b', 'workflow_id = NULL'), /is running and has lost its workflow/],
  [agentIs('c', `state = 'running', started_at = 1`), /is running, but .*, which it depends on, is running/],
])(
  '%s is noticed',
  async (sql, breach) => {
    const world = await midway()
    expect(world.engine.internals.checkInvariants()).toEqual([])
    world.change(sql)
    expect(world.engine.internals.checkInvariants().join('\n')).toMatch(breach)
  },
  30_000,
)

test('more agents at once than may be is noticed', async () => {
  const world = await openSessionWorld()
  world.box.answers.push('never', 'never')
  const id = await world.create([agent('a', { source: sendTask }), agent('b', { source: sendTask })])
  await world.engine.startSession(id)
  await world.until(() => world.box.calls.length === 2)
  world.change('UPDATE sessions SET max_parallel = 1')
  expect(world.engine.internals.checkInvariants()).toEqual([expect.stringMatching(/has 2 agents under way at once/)])
})
