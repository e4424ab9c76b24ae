import { beforeEach, describe, expect, test } from 'vitest'
import { consumerScript } from '../../support/scripts.ts'
import { heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

describe('how many workflows work side by side', () => {
  test('is eight until somebody chooses, and what was chosen holds at once', async () => {
    expect(world.engine.getPreferences()).toEqual({ maxParallelWorkflows: 8 })
    expect(await world.engine.setPreferences({ maxParallelWorkflows: 1 })).toEqual({ ok: true, value: null })
    expect(world.engine.getPreferences()).toEqual({ maxParallelWorkflows: 1 })

    const held = [heldAnswer(), heldAnswer()]
    world.box.answers = held.map(({ answer }) => answer)
    for (let n = 0; n < 2; n += 1) {
      const id = await world.deploy(consumerScript())
      await world.engine.publishEvent(id, 'item', { messageId: 'm1', payload: {} })
    }
    await world.until(() => world.box.calls.length === 1)
    expect(world.rows(`SELECT id FROM handler_runs WHERE status = 'active'`)).toHaveLength(1)

    await world.engine.setPreferences({ maxParallelWorkflows: 2 })
    await world.until(() => world.box.calls.length === 2)
    for (const { give } of held) give()
    await world.settle()
  })

  test.each([
    [{ maxParallelWorkflows: 0 }, 'from 1 to 32'],
    [{ maxParallelWorkflows: 33 }, 'from 1 to 32'],
    [{ maxParallelWorkflows: '4' }, 'from 1 to 32'],
    [{ colour: 'red' }, 'no preference'],
    [null, 'must be an object'],
  ])('cannot be %j', async (change, sentence) => {
    const answer = await world.engine.setPreferences(change as object)
    expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
    expect(JSON.stringify(answer)).toContain(sentence)
    expect(world.engine.getPreferences()).toEqual({ maxParallelWorkflows: 8 })
  })
})

describe('saved queries', () => {
  test('are kept by name, one per name, in the order of their names', async () => {
    await world.engine.saveQuery({ name: 'Slow runs', sql: 'SELECT 1' })
    await world.engine.saveQuery({ name: 'Events', sql: 'SELECT 2' })
    await world.engine.saveQuery({ name: ' Slow runs ', sql: 'SELECT 3' })
    expect(world.engine.listSavedQueries().map(({ name, sql }) => [name, sql])).toEqual([
      ['Events', 'SELECT 2'],
      ['Slow runs', 'SELECT 3'],
    ])
    expect(await world.engine.removeQuery('Events')).toEqual({ ok: true, value: null })
    expect(world.engine.listSavedQueries().map(({ name }) => name)).toEqual(['Slow runs'])
    expect(await world.engine.removeQuery('Events')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  test.each([
    [{ name: ' ', sql: 'SELECT 1' }, 'a name'],
    [{ name: 'x', sql: '' }, 'no query'],
    [{ name: 'x'.repeat(101), sql: 'SELECT 1' }, 'too long'],
    [undefined, 'a name'],
  ])('%j is refused with a sentence', async (query, sentence) => {
    const answer = await world.engine.saveQuery(query as { name: string; sql: string })
    expect(JSON.stringify(answer)).toContain(sentence)
    expect(world.engine.listSavedQueries()).toEqual([])
  })
})
