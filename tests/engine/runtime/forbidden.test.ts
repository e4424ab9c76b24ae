import { expect, test } from 'vitest'
import { failure } from '#engine/model/errors.ts'
import { consumerScript } from '../../support/scripts.ts'
import { openTestEngine } from '../../support/test-engine.ts'

test('what the other side forbids cannot be granted here: it is retried once it is allowed there', async () => {
  const world = await openTestEngine()
  const forbidden = failure('permission', 'The server answered 403.')
  world.box.answers.push({ kind: 'failed', certainty: 'definite', failure: forbidden })
  const id = await world.deploy(consumerScript())
  await world.engine.publishEvent(id, 'item', { messageId: 'm1', payload: 1 })
  await world.settle()
  const open = world.rows(`SELECT id, kind, actions FROM escalations WHERE resolved_at IS NULL`)
  expect(open).toMatchObject([{ kind: 'permission', actions: '["retry"]' }])

  expect(await world.engine.resolveEscalation(String(open[0]?.['id']), 'retry')).toMatchObject({ ok: true })
  await world.settle()
  expect(world.value(`SELECT status FROM events WHERE message_id = 'm1' ORDER BY id LIMIT 1`)).toBe('consumed')
  expect(world.box.calls).toHaveLength(2)
})
