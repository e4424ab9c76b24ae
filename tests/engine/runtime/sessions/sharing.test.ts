import { beforeEach, describe, expect, test } from 'vitest'
import type { SessionEvent } from '#engine/model/session.ts'
import { agent, failTask, sendTask } from '../../../support/agents.ts'
import { openSessionWorld, type SessionWorld } from '../../../support/session-world.ts'
import { heldAnswer } from '../../../support/test-engine.ts'

let world: SessionWorld
beforeEach(async () => {
  world = await openSessionWorld()
})

const agentWith = (parts: { prepare?: string; next?: string }): string => `export default defineAgent({
  async prepare(state, ctx) { ${parts.prepare ?? 'return { data: {} }'} },
  async next(prepared, mutation, ctx) { ${parts.next ?? ''} },
})`
const outputOf = (id: string, key: string): unknown => JSON.parse(world.agentOf(id, key).output ?? 'null')

describe('agents of a session', () => {
  test('know what it is about, who they are and what their task is', async () => {
    const source = agentWith({
      prepare:
        'return { data: { objective: ctx.session.objective, agent: ctx.session.agent, task: ctx.session.task } }',
      next: 'await ctx.session.output(prepared.data)',
    })
    const id = await world.run([agent('a', { source, role: 'writer', task: { words: 5 } })], { objective: 'A book' })
    const { id: agentId } = world.agentOf(id, 'a')
    expect(outputOf(id, 'a')).toEqual({
      objective: 'A book',
      agent: { id: agentId, key: 'a', role: 'writer' },
      task: { words: 5 },
    })
  })

  test('share a context: what one sets, a later one gets', async () => {
    const id = await world.run([
      agent('a', { source: agentWith({ next: `await ctx.session.context.set('notes', [1, 2])` }) }),
      agent('b', {
        dependsOn: ['a'],
        source: agentWith({
          prepare: `return { data: [await ctx.session.context.get('notes'), await ctx.session.context.get('none') ?? 'nothing'] }`,
          next: 'await ctx.session.output(prepared.data)',
        }),
      }),
    ])
    expect(outputOf(id, 'b')).toEqual([[1, 2], 'nothing'])
    expect(world.engine.listSessionContext(id)).toMatchObject({ ok: true, value: [{ key: 'notes', value: '[1,2]' }] })
  })

  test('send each other messages, to one by its key or to all of a role, and each is read once', async () => {
    const reader = agentWith({
      prepare: 'return { data: await ctx.session.inbox() }',
      next: 'await ctx.session.output(prepared.data.map(({ from, body }) => [from, body]))',
    })
    const id = await world.run([
      agent('a', {
        source: agentWith({
          next: `await ctx.session.send('b', 'for you'); await ctx.session.send('critic', 'for all')`,
        }),
      }),
      agent('b', { role: 'critic', dependsOn: ['a'], source: reader }),
      agent('c', { role: 'critic', dependsOn: ['a'], source: reader }),
    ])
    expect(outputOf(id, 'b')).toEqual([
      ['a', 'for you'],
      ['a', 'for all'],
    ])
    expect(outputOf(id, 'c')).toEqual([['a', 'for all']])
    expect(world.value('SELECT count(*) FROM session_messages WHERE read_at IS NULL')).toBe(0)
  })

  test('that wait for a message look again when it comes', async () => {
    const id = await world.create(
      [
        agent('waiter', {
          source: agentWith({
            prepare: `const mail = await ctx.session.inbox()
              return mail.length === 0 ? { reservations: [], data: {} } : { data: mail[0].body }`,
            next: 'await ctx.session.output(prepared.data)',
          }),
        }),
        agent('writer', {
          source: `export default defineAgent({
            async prepare() { return { data: {} } },
            async mutate(prepared, ctx) { await ctx.box.send('x') },
            async next(prepared, mutation, ctx) { await ctx.session.send('waiter', 'now') },
          })`,
        }),
      ],
      { strategy: 'parallel' },
    )
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.engine.startSession(id)
    await world.until(() => world.box.calls.length === 1)
    expect(world.states(id)['waiter']).toBe('running')
    held.give()
    await world.settle()
    expect(outputOf(id, 'waiter')).toBe('now')
    expect(world.status(id).session.state).toBe('completed')
  })

  test('write nothing when their handler run does not commit', async () => {
    const source = agentWith({
      next: `await ctx.session.context.set('k', 1); await ctx.session.send('a', 'x'); await ctx.session.output(1)
        throw new Error('after all')`,
    })
    const id = await world.run([agent('a', { source })])
    expect(world.states(id)).toEqual({ a: 'failed' })
    expect(world.agentOf(id, 'a').output).toBe(null)
    expect(world.value('SELECT count(*) FROM session_context')).toBe(0)
    expect(world.value('SELECT count(*) FROM session_messages')).toBe(0)
  })

  test.each([
    ['prepare', `await ctx.session.output(1)`, /`session.output` cannot be used in `prepare`/],
    ['next', `await ctx.session.inbox()`, /`session.inbox` cannot be used in `next`/],
    ['next', `await ctx.session.send('nobody', 1)`, /no agent and no role "nobody"/],
    ['next', `await ctx.session.context.set('', 1)`, /name of a context is empty/],
  ])('are told in %s what is wrong with %s', async (phase, code, sentence) => {
    const source = agentWith(phase === 'prepare' ? { prepare: code } : { next: code })
    const id = await world.run([agent('a', { source })])
    expect(world.agentOf(id, 'a').errorMessage).toMatch(sentence)
  })
})

describe('whoever watches', () => {
  test('sees progress, roles, cost and elapsed time, and an estimate as soon as there is a basis', async () => {
    const first = heldAnswer()
    world.box.answers.push(first.answer)
    const chain = ['a', 'b', 'c'].map((key, index, keys) =>
      agent(key, { source: sendTask, ...(index > 0 ? { dependsOn: [String(keys[index - 1])] } : {}) }),
    )
    const id = await world.create(chain)
    expect(world.status(id)).toMatchObject({ progress: 0, elapsedMs: null, estimatedCompletionAt: null })
    await world.engine.startSession(id)
    await world.until(() => world.box.calls.length === 1)
    expect(world.status(id).estimateNote).toContain('"worker"')
    world.clock.advance(10_000)
    const second = heldAnswer()
    world.box.answers.push(second.answer)
    first.give()
    await world.until(() => world.box.calls.length === 2)
    world.clock.advance(4000)
    expect(world.status(id)).toMatchObject({
      progress: 1 / 3,
      elapsedMs: 14_000,
      estimatedCompletionAt: world.clock.now() + 16_000,
      estimateNote: null,
      roles: { worker: { total: 3, pending: 1, running: 1, completed: 1, failed: 0 } },
    })
    second.give()
    await world.settle()
    expect(world.status(id)).toMatchObject({ progress: 1, cost: 5, estimatedCompletionAt: null })
  })

  test('is told every event once and in order, and can go on after any of them', async () => {
    const id = await world.create([agent('a'), agent('b', { dependsOn: ['a'] })])
    const heard: SessionEvent[] = []
    const subscribed = world.engine.subscribeSession(id, 0, (events) => heard.push(...events))
    await world.engine.startSession(id)
    await world.settle()
    await world.until(() => heard.at(-1)?.eventType === 'session_completed')
    const all = await world.engine.listSessionEvents(id)
    if (!all.ok || !subscribed.ok) throw new Error('refused')
    expect(heard).toEqual(all.value)
    const middle = Number(heard[3]?.id)
    const rest: SessionEvent[] = []
    world.engine.subscribeSession(id, middle, (events) => rest.push(...events))
    await world.until(() => rest.length > 0)
    expect(rest).toEqual(heard.slice(4))
  })

  test('is told nothing that is not on disk yet', async () => {
    const id = await world.create([agent('a')])
    const heard: SessionEvent[] = []
    world.engine.subscribeSession(id, 0, (events) => heard.push(...events))
    await world.until(() => heard.length === 1)
    const release = world.holdBarrier()
    const starting = world.engine.startSession(id)
    await world.until(() => world.value(`SELECT state FROM sessions`) === 'completed')
    expect(heard).toHaveLength(1)
    release()
    await starting
    await world.until(() => heard.at(-1)?.eventType === 'session_completed')
  })
})

describe('after a restart', () => {
  test('a session that was running goes on, and no agent failed because the tab was closed', async () => {
    for (const point of [
      'attempt_started',
      'after_script',
      'mutation_settled',
      'attempt_committed',
      'run_finished',
    ] as const) {
      const id = await world.create([agent('a', { source: sendTask }), agent('b', { dependsOn: ['a'] })])
      world.dieAt(point)
      await world.engine.startSession(id)
      await world.until(() => world.isDead())
      await world.crash()
      await world.settle()
      expect([point, world.states(id)]).toEqual([point, { a: 'completed', b: 'completed' }])
      expect(world.engine.info().lastRecovery?.violations).toEqual([])
    }
    expect(world.box.calls).toHaveLength(5)
  })

  test('what is left of a cancelled session comes to its end', async () => {
    const id = await world.create([agent('a', { source: sendTask }), agent('b', { source: failTask })], {
      strategy: 'parallel',
      onFailure: 'ask',
    })
    world.box.answers.push('never')
    await world.engine.startSession(id)
    await world.until(() => world.box.calls.length === 1 && world.states(id)['b'] === 'blocked')
    await world.engine.cancelSession(id)
    await world.crash()
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'blocked', b: 'cancelled' })
    await world.resolve('happened')
    await world.settle()
    expect(world.states(id)).toEqual({ a: 'cancelled', b: 'cancelled' })
  })
})
