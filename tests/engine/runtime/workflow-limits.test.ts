import { expect, test } from 'vitest'
import { producerScript } from '../../support/scripts.ts'
import { openTestEngine } from '../../support/test-engine.ts'

const talkative = producerScript(`async handler(state, ctx) { for (let i = 0; i < 5; i++) ctx.log.info('line ' + i) }`)

test('a limit that is set for a workflow holds for it, is named when it is hit, and can be taken back', async () => {
  const world = await openTestEngine()
  const id = await world.deploy(talkative)
  await world.settle()
  expect(world.value(`SELECT status FROM handler_runs ORDER BY id DESC LIMIT 1`)).toBe('committed')

  expect(await world.engine.changeWorkflow(id, { limits: { logLines: 3 } })).toMatchObject({ ok: true })
  await world.engine.runWorkflow(id)
  await world.settle()
  const [failed] = world.rows(`SELECT status, error FROM handler_runs ORDER BY id DESC LIMIT 1`)
  expect(failed).toMatchObject({ status: 'failed:logic', error: expect.stringContaining('"logLines"') as unknown })

  await world.engine.changeWorkflow(id, { limits: {} })
  const [open] = world.rows(`SELECT id FROM escalations WHERE resolved_at IS NULL`)
  await world.engine.resolveEscalation(String(open?.['id']), 'retry')
  await world.settle()
  expect(world.value(`SELECT status FROM handler_runs ORDER BY id DESC LIMIT 1`)).toBe('committed')
})

test.each([
  [{ limits: { speed: 1 } }, 'There is no limit "speed"'],
  [{ limits: { cpuMs: -1 } }, 'whole number above 0'],
  [{ limits: 7 }, 'must be an object'],
])('%j is refused with a sentence', async (change, sentence) => {
  const world = await openTestEngine()
  const id = await world.deploy(talkative)
  const answer = await world.engine.changeWorkflow(id, change as never)
  expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
  expect(answer.ok ? '' : answer.error.message).toContain(sentence)
})
