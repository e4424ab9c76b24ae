import { beforeEach, describe, expect, test } from 'vitest'
import { agent, failTask, sendTask, thinkTask } from '../../../support/agents.ts'
import { openSessionWorld, type SessionWorld } from '../../../support/session-world.ts'
import { heldAnswer } from '../../../support/test-engine.ts'

let world: SessionWorld
beforeEach(async () => {
  world = await openSessionWorld()
})

const outputOf = (id: string, key: string): unknown => JSON.parse(world.agentOf(id, key).output ?? 'null')
const starts = (id: string): string[] =>
  world.story(id).flatMap((line) => (line.startsWith('started ') && !line.endsWith('session') ? [line.slice(8)] : []))

describe('a parallel session', () => {
  test('starts all agents at once', async () => {
    const id = await world.run([agent('a'), agent('b'), agent('c')], { strategy: 'parallel' })
    expect(world.story(id).slice(0, 5)).toEqual([
      'created session',
      'started session',
      'started a',
      'started b',
      'started c',
    ])
    expect(world.status(id).session.state).toBe('completed')
  })

  test('has never more agents under way than it may', async () => {
    const held = [heldAnswer(), heldAnswer(), heldAnswer()]
    world.box.answers.push(...held.map(({ answer }) => answer))
    const id = await world.create(
      ['a', 'b', 'c'].map((key) => agent(key, { source: sendTask })),
      {
        strategy: 'parallel',
        maxParallel: 2,
      },
    )
    await world.engine.startSession(id)
    await world.until(() => world.box.calls.length === 2)
    expect(world.states(id)).toEqual({ a: 'running', b: 'running', c: 'pending' })
    held[0]?.give()
    await world.until(() => world.box.calls.length === 3)
    expect(world.states(id)).toEqual({ a: 'completed', b: 'running', c: 'running' })
    held[1]?.give()
    held[2]?.give()
    await world.settle()
    expect(world.status(id).session).toMatchObject({ state: 'completed', completedAgents: 3 })
  })
})

describe('a sequential session', () => {
  test('starts the next in order when the one before completed, and hands its output on', async () => {
    const id = await world.run([agent('a'), agent('b'), agent('c')], { strategy: 'sequential' })
    expect(world.story(id).filter((line) => !line.startsWith('output'))).toEqual([
      'created session',
      'started session',
      'started a',
      'completed a',
      'started b',
      'completed b',
      'started c',
      'completed c',
      'completed session',
    ])
    expect(outputOf(id, 'b')).toEqual({ did: 'do b', got: { a: { did: 'do a', got: {} } } })
  })

  test('puts nothing before what it depends on', async () => {
    const id = await world.run([agent('late', { dependsOn: ['early'] }), agent('early'), agent('last')], {
      strategy: 'sequential',
    })
    expect(starts(id)).toEqual(['early', 'late', 'last'])
  })
})

test('an adaptive session starts every agent whose dependencies completed, with their outputs by key', async () => {
  const id = await world.run([
    agent('sink', { dependsOn: ['left', 'right'] }),
    agent('left', { dependsOn: ['root'] }),
    agent('right', { dependsOn: ['root'] }),
    agent('root'),
  ])
  expect(starts(id)[0]).toBe('root')
  expect(starts(id)[3]).toBe('sink')
  expect(outputOf(id, 'sink')).toMatchObject({ got: { left: { did: 'do left' }, right: { did: 'do right' } } })
  expect(Object.keys((outputOf(id, 'sink') as { got: object }).got)).toEqual(['left', 'right'])
})

test('a pipeline starts a stage when the whole stage before completed, and hands it all its outputs', async () => {
  const held = heldAnswer()
  world.box.answers.push(held.answer)
  const id = await world.create(
    [agent('slow', { stage: 0, source: sendTask }), agent('fast', { stage: 0 }), agent('end', { stage: 1 })],
    { strategy: 'pipeline' },
  )
  await world.engine.startSession(id)
  await world.until(() => world.states(id)['fast'] === 'completed' && world.box.calls.length === 1)
  expect(world.states(id)).toEqual({ slow: 'running', fast: 'completed', end: 'pending' })
  held.give()
  await world.settle()
  expect(world.states(id)['end']).toBe('completed')
  expect(outputOf(id, 'end')).toMatchObject({ got: { slow: { did: 'do slow' }, fast: { did: 'do fast' } } })
})

describe('when an agent fails', () => {
  const broken = { source: failTask }

  test('a session that stops lets running agents finish, starts nothing new, and has failed', async () => {
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    const id = await world.create(
      [agent('bad', broken), agent('busy', { source: sendTask }), agent('next', { dependsOn: ['busy'] })],
      {},
    )
    await world.engine.startSession(id)
    await world.until(() => world.states(id)['bad'] === 'failed' && world.box.calls.length === 1)
    expect(world.status(id).session.state).toBe('running')
    held.give()
    await world.settle()
    expect(world.states(id)).toEqual({ bad: 'failed', busy: 'completed', next: 'skipped' })
    expect(world.status(id).session).toMatchObject({
      state: 'failed',
      failedAgents: 1,
      errorMessage: '1 of 3 agents failed: "bad".',
    })
    expect(world.agentOf(id, 'bad')).toMatchObject({ exitCode: 1, errorMessage: 'I cannot do do bad' })
    expect(world.agentOf(id, 'busy').exitCode).toBe(0)
    expect(world.questions()).toEqual([])
  })

  test('a session that continues goes on with what is independent and skips what depends on it', async () => {
    const id = await world.run(
      [
        agent('bad', broken),
        agent('child', { dependsOn: ['bad'] }),
        agent('grandchild', { dependsOn: ['child'] }),
        agent('free'),
      ],
      { onFailure: 'continue' },
    )
    expect(world.states(id)).toEqual({ bad: 'failed', child: 'skipped', grandchild: 'skipped', free: 'completed' })
    expect(world.agentOf(id, 'grandchild').errorMessage).toContain('"child"')
    expect(world.status(id).session.state).toBe('failed')
  })

  test('a sequence that continues passes over it, a pipeline that continues ends with its stage', async () => {
    const sequence = await world.run([agent('a'), agent('bad', broken), agent('c')], {
      strategy: 'sequential',
      onFailure: 'continue',
    })
    expect(world.states(sequence)).toEqual({ a: 'completed', bad: 'failed', c: 'completed' })
    const pipeline = await world.run(
      [agent('bad', { ...broken, stage: 0 }), agent('peer', { stage: 0 }), agent('later', { stage: 1 })],
      { strategy: 'pipeline', onFailure: 'continue' },
    )
    expect(world.states(pipeline)).toEqual({ bad: 'failed', peer: 'completed', later: 'skipped' })
  })

  test('a session that asks leaves it to a person, and goes on with the answer', async () => {
    world.box.answers.push({ kind: 'failed', certainty: 'definite', failure: { type: 'logic', message: 'No.' } })
    const id = await world.run([agent('a', { source: sendTask }), agent('b', { dependsOn: ['a'] })], {
      onFailure: 'ask',
    })
    expect(world.states(id)).toEqual({ a: 'blocked', b: 'pending' })
    expect(world.questions()).toMatchObject([{ kind: 'logic_failure', workflowId: world.agentOf(id, 'a').workflowId }])
    await world.resolve('retry')
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'completed', b: 'completed' })
    expect(world.story(id)).toContain('unblocked a')
  })

  test('whether a mutation happened is asked in every session: no policy can know it', async () => {
    world.box.answers.push({ kind: 'failed', certainty: 'uncertain', failure: { type: 'network', message: 'Gone.' } })
    const id = await world.run([agent('a', { source: sendTask })])
    expect(world.states(id)).toEqual({ a: 'blocked' })
    await world.resolve('happened')
    await world.settle()
    expect(world.status(id).session.state).toBe('completed')
    expect(world.box.calls).toHaveLength(1)
  })
})

test('an agent can be a whole workflow: it is complete when its run is and nothing is pending', async () => {
  const source = `export default defineWorkflow({
    name: 'Two steps',
    topics: { found: {}, kept: {} },
    producers: { look: { schedule: { interval: '1h' }, publishes: ['found'], async handler(state, ctx) {
      for (const n of [1, 2]) await ctx.topics.publish('found', { messageId: String(n), payload: n })
    } } },
    consumers: { keep: { subscribe: ['found'], publishes: ['kept'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('found', { limit: 1 })
        return { reservations: event ? [{ topic: 'found', ids: [event.messageId] }] : [], data: event?.payload ?? 0 }
      },
      async next(prepared, mutation, ctx) {
        await ctx.topics.publish('kept', { messageId: String(prepared.data), payload: prepared.data })
        await ctx.session.output({ last: prepared.data, role: ctx.session.agent.role })
      },
    } },
  })`
  const id = await world.run([agent('a', { source }), agent('b', { source: thinkTask, dependsOn: ['a'] })])
  expect(world.states(id)).toEqual({ a: 'completed', b: 'completed' })
  expect(outputOf(id, 'a')).toEqual({ last: 2, role: 'worker' })
  expect(
    world.rows(
      `SELECT "trigger", result FROM script_runs WHERE workflow_id = ?`,
      String(world.agentOf(id, 'a').workflowId),
    ),
  ).toEqual([{ trigger: 'session', result: 'completed' }])
  expect(world.engine.info().nextWakeAt).toBe(null)
})

test('several sessions run side by side', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => world.run([agent('a'), agent('b', { dependsOn: ['a'] })])))
  for (const id of ids) expect(world.status(id).session.state).toBe('completed')
})
