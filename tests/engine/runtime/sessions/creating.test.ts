import { beforeEach, describe, expect, test } from 'vitest'
import { agent, sessionOf } from '../../../support/agents.ts'
import { openSessionWorld, type SessionWorld } from '../../../support/session-world.ts'

let world: SessionWorld
beforeEach(async () => {
  world = await openSessionWorld()
})

const problemsOf = async (request: unknown): Promise<{ message: string; agents: string[] }[]> => {
  const before = world.dump()
  const created = await world.engine.createSession(request as never)
  if (created.ok) throw new Error('It was created.')
  expect(created.error.code).toBe('invalid_session')
  expect(world.dump()).toBe(before)
  return created.error.details as unknown as { message: string; agents: string[] }[]
}

test('a session has an id, its agents theirs, and each agent a private workflow that nobody sees among the others', async () => {
  const id = await world.create([agent('a', { role: 'writer' }), agent('b', { role: 'writer' }), agent('c')])
  expect(id).toMatch(/^sess_/)
  expect(world.status(id).session).toMatchObject({
    state: 'created',
    strategy: 'adaptive',
    onFailure: 'stop',
    agentCount: 3,
  })
  expect(world.status(id).agents.map((one) => one.id)).toEqual([
    expect.stringMatching(/^agent_writer_1_\w{26}$/),
    expect.stringMatching(/^agent_writer_2_\w{26}$/),
    expect.stringMatching(/^agent_worker_1_\w{26}$/),
  ])
  expect(world.engine.listWorkflows()).toEqual([])
  expect(world.engine.listWorkflows({ ofAgents: true })).toHaveLength(3)
  expect(world.rows('SELECT count(*) AS n, count(DISTINCT workflow_id) AS own FROM scripts')).toEqual([
    { n: 3, own: 3 },
  ])
  await world.settle()
  expect(world.value('SELECT count(*) FROM script_runs')).toBe(0)
})

test('a task is a sentence, or data that the script understands', async () => {
  const id = await world.create([
    agent('a', { task: 'Write it' }),
    agent('b', { task: { topic: 'x' } }),
    agent('c', { task: '{"a":1}' }),
  ])
  expect(world.status(id).agents.map(({ task }) => task)).toEqual(['Write it', { topic: 'x' }, '{"a":1}'])
  expect(world.value(`SELECT task FROM session_agents WHERE "key" = 'a'`)).toBe('Write it')
})

describe('what does not hang together is refused, and the agents are named:', () => {
  test('no agents', async () => {
    expect(await problemsOf(sessionOf([]))).toEqual([
      { message: expect.stringContaining('no agents') as unknown, agents: [] },
    ])
  })

  test('a duplicate key', async () => {
    expect(await problemsOf(sessionOf([agent('a'), agent('b'), agent('a')]))).toEqual([
      { message: expect.stringContaining('Two agents have the key "a"') as unknown, agents: ['a'] },
    ])
  })

  test('an unknown dependency', async () => {
    expect(await problemsOf(sessionOf([agent('a', { dependsOn: ['ghost'] })]))).toEqual([
      { message: expect.stringContaining('"a" depends on "ghost"') as unknown, agents: ['a'] },
    ])
  })

  test('a cycle, and only those that are in it', async () => {
    const [problem, ...others] = await problemsOf(
      sessionOf([
        agent('a', { dependsOn: ['c'] }),
        agent('b', { dependsOn: ['a'] }),
        agent('c', { dependsOn: ['b'] }),
        agent('outside', { dependsOn: ['a'] }),
        agent('self', { dependsOn: ['self'] }),
      ]),
    )
    expect(problem?.agents.toSorted()).toEqual(['a', 'b', 'c'])
    expect(others).toEqual([{ message: 'The agent "self" depends on itself.', agents: ['self'] }])
  })

  test('dependencies in a parallel session', async () => {
    expect(
      await problemsOf(sessionOf([agent('a'), agent('b', { dependsOn: ['a'] })], { strategy: 'parallel' })),
    ).toEqual([{ message: expect.stringContaining('"b" has dependencies') as unknown, agents: ['b'] }])
  })

  test('a gap between the stages of a pipeline', async () => {
    const stages = (...numbers: number[]) =>
      sessionOf(
        numbers.map((stage, index) => agent(`a${String(index)}`, { stage })),
        { strategy: 'pipeline' },
      )
    expect(await problemsOf(stages(0, 2))).toEqual([
      { message: expect.stringContaining('No agent is in stage 1') as unknown, agents: ['a1'] },
    ])
    expect(await problemsOf(sessionOf([agent('a', { stage: 0 }), agent('b')], { strategy: 'pipeline' }))).toMatchObject(
      [{ agents: ['b'] }],
    )
    expect(await world.engine.createSession(stages(1, 2, 1))).toMatchObject({ ok: true })
  })

  test('a dependency on the same or a later stage', async () => {
    const request = sessionOf([agent('a', { stage: 0, dependsOn: ['b'] }), agent('b', { stage: 1 })], {
      strategy: 'pipeline',
    })
    expect(await problemsOf(request)).toMatchObject([{ agents: ['a', 'b'] }])
  })

  test('a script that does not validate, with its line', async () => {
    const source = 'export default defineAgent({\n  prepare: 5,\n})'
    expect(await problemsOf(sessionOf([agent('a'), agent('b', { source })]))).toEqual([
      {
        message: expect.stringContaining('script of the agent "b", line 2') as unknown,
        agents: ['b'],
        line: 2,
        column: 3,
      },
    ])
  })

  test('and everything that is wrong is said at once', async () => {
    const problems = await problemsOf({
      objective: ' ',
      strategy: 'zigzag',
      onFailure: 'cry',
      maxParallel: 0,
      metadata: [],
      agents: [{ key: 'a b', role: 7, source: '' }, null, agent('c', { dependsOn: ['d'] })],
    })
    expect(problems.map(({ message }) => message).join('\n')).toMatch(
      /objective[^]*strategy[^]*onFailure[^]*maxParallel[^]*metadata[^]*key[^]*role[^]*task[^]*source[^]*Agent 2[^]*"d"/,
    )
  })

  test.each([undefined, null, 5, 'x', [], { objective: 'x', strategy: 'parallel', agents: 'many' }])(
    '%o',
    async (request) => {
      expect((await problemsOf(request)).length).toBeGreaterThan(0)
    },
  )
})

test('whoever names a session that is not there is told so', async () => {
  const { engine } = world
  for (const answer of [
    await engine.startSession('sess_x'),
    await engine.pauseSession('sess_x'),
    await engine.cancelSession('sess_x'),
    await engine.retryAgent('sess_x', 'a'),
    await engine.cloneSession('sess_x'),
    await engine.addAgent('sess_x', agent('a')),
    await engine.deleteSession('sess_x'),
    await engine.listSessionEvents('sess_x'),
    engine.getSessionStatus('sess_x'),
    engine.subscribeSession('sess_x', 0, () => undefined),
  ]) {
    expect(answer).toMatchObject({ ok: false, error: { code: 'not_found' } })
  }
  expect(await engine.startSession(undefined as never)).toMatchObject({ error: { code: 'invalid_input' } })
})

test('the private workflow of an agent cannot be steered behind the back of its session', async () => {
  const id = await world.create([agent('a')])
  const workflowId = String(world.agentOf(id, 'a').workflowId)
  for (const answer of [
    await world.engine.resumeWorkflow(workflowId),
    await world.engine.runWorkflow(workflowId),
    await world.engine.deleteWorkflow(workflowId),
    await world.engine.archiveWorkflow(workflowId),
  ]) {
    expect(answer).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
  }
})
