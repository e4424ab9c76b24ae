import { beforeEach, describe, expect, test } from 'vitest'
import { consumerScript, producerScript, publishTwo } from '../../support/scripts.ts'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'

let world: TestEngine

beforeEach(async () => {
  world = await openTestEngine()
})

describe('changing the settings of a workflow', () => {
  test('changes what is named and leaves the rest', async () => {
    const id = await world.deploy(consumerScript())
    expect(await world.engine.changeWorkflow(id, { budget: 7, permissions: ['box:more', 'box:more'] })).toMatchObject({
      ok: true,
    })
    expect(await world.engine.changeWorkflow(id, { name: 'Better name' })).toMatchObject({ ok: true })
    expect(world.rows('SELECT name, budget, timezone, permissions FROM workflows')).toEqual([
      { name: 'Better name', budget: 7, timezone: null, permissions: '["box:more"]' },
    ])
  })

  test('to another time zone moves the beats that depend on it, and no others', async () => {
    const own = `{ cron: '0 9 * * *', timezone: 'Asia/Tokyo' }`
    const plain = await world.deploy(producerScript(publishTwo, `{ cron: '0 9 * * *' }`))
    const fixed = await world.deploy(producerScript(publishTwo, own))
    await world.settle()
    const next = (id: string): unknown =>
      world.value('SELECT next_run_at FROM producer_schedules WHERE workflow_id = ?', id)
    const hourOf = (at: unknown, timeZone: string): string =>
      new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone }).format(Number(at))
    const fixedBefore = next(fixed)
    for (const id of [plain, fixed]) await world.engine.changeWorkflow(id, { timezone: 'America/New_York' })
    expect(hourOf(next(plain), 'America/New_York')).toBe('09')
    expect(next(fixed)).toBe(fixedBefore)
  })

  test.each([
    [{ budget: 0 }, 'from 1 to'],
    [{ budget: 1.5 }, 'whole number'],
    [{ timezone: 'Mars/Olympus' }, 'Europe/Berlin'],
    [{ permissions: [1] }, 'list of strings'],
    [{ name: '' }, 'name'],
    [{ colour: 'red' }, 'no setting "colour"'],
    [null, 'must be an object'],
  ])('to %j is refused with a sentence, and nothing is written', async (change, sentence) => {
    const id = await world.deploy(consumerScript())
    const before = world.dump('workflows')
    const answer = await world.engine.changeWorkflow(id, change as object)
    expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
    expect(JSON.stringify(answer)).toContain(sentence.replaceAll('"', String.raw`\"`))
    expect(world.dump('workflows')).toBe(before)
  })
})

describe('skipping events', () => {
  test('skips what is pending and of this workflow, and tells how many', async () => {
    const id = await world.deploy(consumerScript())
    const other = await world.deploy(consumerScript())
    for (const workflowId of [id, other]) await world.engine.pauseWorkflow(workflowId)
    await world.publish(id, 'm1')
    await world.publish(id, 'm2')
    await world.publish(other, 'm3')
    const ids = world.rows('SELECT id FROM events ORDER BY id').map((row) => String(row['id']))
    expect(await world.engine.skipEvents(id, [...ids, 'evt_nowhere'])).toEqual({ ok: true, value: { skipped: 2 } })
    expect(await world.engine.skipEvents(id, ids)).toEqual({ ok: true, value: { skipped: 0 } })
    expect(world.rows('SELECT message_id, status FROM events ORDER BY message_id')).toEqual([
      { message_id: 'm1', status: 'skipped' },
      { message_id: 'm2', status: 'skipped' },
      { message_id: 'm3', status: 'pending' },
    ])
  })
})

describe('cancelling a run', () => {
  const lastRun = (): string => String(world.value('SELECT id FROM script_runs ORDER BY id DESC'))

  test('that waits for its retry takes the retry back and frees the events', async () => {
    const id = await world.deploy(consumerScript())
    world.box.answers.push(failed('network'))
    await world.publish(id)
    await world.settle()
    await world.engine.pauseWorkflow(id)
    expect(await world.engine.cancelRun(lastRun())).toEqual({ ok: true, value: null })
    expect(world.value('SELECT status FROM handler_runs ORDER BY id DESC')).toBe('cancelled')
    expect(world.value('SELECT count(*) FROM handler_runs WHERE retry_at IS NOT NULL')).toBe(0)
    expect(world.value('SELECT status FROM events')).toBe('pending')
  })

  test('whose mutation is under way is refused, and the mutation comes to its end', async () => {
    const id = await world.deploy(consumerScript({ next: null }))
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id)
    await world.until(() => world.box.calls.length === 1)
    expect(await world.engine.cancelRun(lastRun())).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
    held.give()
    await world.settle()
    expect(world.value('SELECT status FROM events')).toBe('consumed')
  })

  test('that has ended is refused', async () => {
    const id = await world.deploy(consumerScript())
    await world.publish(id)
    await world.settle()
    expect(await world.engine.cancelRun(lastRun())).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
    expect(await world.engine.cancelRun('run_nowhere')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })
})
