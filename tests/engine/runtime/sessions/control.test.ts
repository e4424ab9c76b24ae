import { beforeEach, describe, expect, test } from 'vitest'
import { agent, failTask, sendTask } from '../../../support/agents.ts'
import { openSessionWorld, type SessionWorld } from '../../../support/session-world.ts'
import { failed, heldAnswer } from '../../../support/test-engine.ts'

let world: SessionWorld
beforeEach(async () => {
  world = await openSessionWorld()
})

const sending = { source: sendTask }
const illegal = { ok: false, error: { code: 'illegal_transition' } }

/** A session whose first agent waits for the answer to its mutation. */
const inFlight = async (): Promise<{ id: string; give: ReturnType<typeof heldAnswer>['give'] }> => {
  const { answer, give } = heldAnswer()
  world.box.answers.push(answer)
  const id = await world.create([agent('a', sending), agent('b', { dependsOn: ['a'] })])
  await world.engine.startSession(id)
  await world.until(() => world.box.calls.length === 1)
  return { id, give }
}

describe('a paused session', () => {
  test('stops at the next phase boundary and goes on from there when it is resumed', async () => {
    const { id, give } = await inFlight()
    expect(await world.engine.pauseSession(id)).toMatchObject({ ok: true })
    expect(world.states(id)).toEqual({ a: 'paused', b: 'pending' })
    give()
    await world.settle()
    expect(world.rows('SELECT phase, status FROM handler_runs')).toEqual([{ phase: 'mutated', status: 'active' }])
    expect(world.status(id).session.state).toBe('paused')
    await world.engine.resumeSession(id)
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'completed', b: 'completed' })
    expect(world.box.calls).toHaveLength(1)
  })

  test('stays paused after a restart', async () => {
    const { id } = await inFlight()
    await world.engine.pauseSession(id)
    await world.crash()
    await world.settle()
    expect(world.status(id).session.state).toBe('paused')
    expect(world.box.calls).toHaveLength(1)
  })

  test('keeps an agent that a person has answered for until it is resumed', async () => {
    world.box.answers.push(failed('network', 'uncertain'))
    const id = await world.run([agent('a', sending)])
    await world.engine.pauseSession(id)
    await world.resolve('happened')
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'paused' })
    await world.engine.resumeSession(id)
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'completed' })
  })
})

describe('a cancelled session', () => {
  test('finishes what is past its mutation, starts nothing else, and is over', async () => {
    const { id, give } = await inFlight()
    await world.engine.cancelSession(id)
    expect(world.status(id).session.state).toBe('cancelled')
    expect(world.states(id)).toEqual({ a: 'running', b: 'cancelled' })
    give()
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'cancelled', b: 'cancelled' })
    expect(world.rows('SELECT status FROM events')).toEqual([{ status: 'consumed' }])
    expect(world.rows('SELECT status FROM mutations')).toEqual([{ status: 'applied' }])
  })

  test('gives back what is before the boundary', async () => {
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    const source = `export default defineAgent({
      async prepare(state, ctx) { return { data: await ctx.box.get('slow') } },
      async mutate(prepared, ctx) { await ctx.box.send('never') },
    })`
    const id = await world.create([agent('a', { source })])
    await world.engine.startSession(id)
    await world.until(() => world.box.calls.length === 1)
    await world.engine.cancelSession(id)
    held.give()
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'cancelled' })
    expect(world.rows('SELECT status FROM events')).toEqual([{ status: 'pending' }])
    expect(world.rows('SELECT status FROM handler_runs')).toEqual([{ status: 'cancelled' }])
    expect(world.box.calls.map(({ params }) => params)).toEqual(['slow'])
  })

  test('still asks whether a mutation happened, and is over with the answer', async () => {
    world.box.answers.push(failed('network', 'uncertain'))
    const id = await world.run([agent('a', sending)])
    await world.engine.cancelSession(id)
    expect(world.states(id)).toEqual({ a: 'blocked' })
    await world.resolve('did_not_happen')
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'cancelled' })
    expect(world.box.calls).toHaveLength(1)
  })

  test('withdraws the question of an agent that had only failed', async () => {
    const id = await world.run([agent('a', { source: failTask })], { onFailure: 'ask' })
    expect(world.questions()).toHaveLength(1)
    await world.engine.cancelSession(id)
    expect(world.questions()).toEqual([])
    expect(world.states(id)).toEqual({ a: 'cancelled' })
  })
})

describe('an agent that failed', () => {
  test('is retried under the boundary rule, and what was skipped gets its chance', async () => {
    world.box.answers.push(failed('logic'))
    const id = await world.run([
      agent('a', sending),
      agent('b', { dependsOn: ['a'] }),
      agent('c', { dependsOn: ['b'] }),
    ])
    expect(world.states(id)).toEqual({ a: 'failed', b: 'skipped', c: 'skipped' })
    expect(await world.engine.retryAgent(id, world.agentOf(id, 'a').id)).toMatchObject({ ok: true })
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'completed', b: 'completed', c: 'completed' })
    expect(world.status(id).session).toMatchObject({ state: 'completed', failedAgents: 0, errorMessage: null })
  })

  test('is retried alone although another one failed too', async () => {
    world.box.answers.push(failed('logic'), failed('logic'))
    const id = await world.run([agent('a', sending), agent('b', sending), agent('c', { dependsOn: ['a', 'b'] })])
    await world.engine.retryAgent(id, 'a')
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'completed', b: 'failed', c: 'skipped' })
    await world.engine.retryAgent(id, 'b')
    await world.settle()
    expect(world.status(id).session.state).toBe('completed')
  })

  test('runs the new version after its script was edited', async () => {
    const id = await world.run([agent('a', { source: failTask })])
    const workflowId = String(world.agentOf(id, 'a').workflowId)
    await world.engine.deployWorkflow({ workflowId, source: sendTask })
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'failed' })
    await world.engine.retryAgent(id, 'a')
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'completed' })
  })
})

test('what does not follow is refused with a sentence, and changes nothing', async () => {
  const { engine } = world
  const id = await world.create([agent('a')])
  expect(await engine.pauseSession(id)).toMatchObject(illegal)
  expect(await engine.resumeSession(id)).toMatchObject(illegal)
  expect(await engine.retryAgent(id, 'a')).toMatchObject(illegal)
  expect(await engine.retryAgent(id, 'nobody')).toMatchObject({ error: { code: 'not_found' } })
  await engine.startSession(id)
  await world.settle()
  const before = world.dump()
  for (const refused of [
    await engine.startSession(id),
    await engine.pauseSession(id),
    await engine.resumeSession(id),
    await engine.cancelSession(id),
    await engine.retryAgent(id, 'a'),
    await engine.addAgent(id, agent('late')),
  ]) {
    expect(refused).toMatchObject(illegal)
    if (!refused.ok) expect(refused.error.message).toMatch(/^("|The agent).*\./)
  }
  expect(world.dump()).toBe(before)
})

test('an agent can be added while the session is not finished', async () => {
  const { id, give } = await inFlight()
  expect(await world.engine.addAgent(id, agent('a'))).toMatchObject({ error: { code: 'invalid_session' } })
  expect(await world.engine.addAgent(id, agent('c', { dependsOn: ['nobody'] }))).toMatchObject({
    error: { code: 'invalid_session' },
  })
  expect(await world.engine.addAgent(id, agent('c', { dependsOn: ['b'] }))).toMatchObject({ ok: true })
  give()
  await world.settle()
  expect(world.states(id)).toEqual({ a: 'completed', b: 'completed', c: 'completed' })
  expect(world.status(id).session.agentCount).toBe(3)
})

test('a clone has the same agents and runs on its own', async () => {
  const id = await world.run([agent('a', { stage: 0 }), agent('b', { stage: 1, task: { n: 1 } })], {
    strategy: 'pipeline',
    maxParallel: 2,
  })
  const cloned = await world.engine.cloneSession(id)
  if (!cloned.ok) throw new Error(cloned.error.message)
  const copy = cloned.value.sessionId
  expect(world.status(copy).session).toMatchObject({ state: 'created', strategy: 'pipeline', maxParallel: 2 })
  expect(world.status(copy).session.metadata).toEqual({ clonedFrom: id })
  await world.engine.startSession(copy)
  await world.settle()
  expect(world.status(copy).session.state).toBe('completed')
})

test('a session can be deleted with everything it owns once it is over', async () => {
  const { id, give } = await inFlight()
  expect(await world.engine.deleteSession(id)).toMatchObject(illegal)
  give()
  await world.settle()
  expect(await world.engine.deleteSession(id)).toMatchObject({ ok: true })
  for (const table of ['sessions', 'session_agents', 'session_events', 'workflows', 'events', 'handler_runs']) {
    expect([table, world.value(`SELECT count(*) FROM ${table}`)]).toEqual([table, 0])
  }
})
