import { expect, test, vi } from 'vitest'
import { createQueries } from '#engine/runtime/queries.ts'
import { buildWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'
import { consumerScript, producerScript } from '../../support/scripts.ts'
import { failed, openTestEngine } from '../../support/test-engine.ts'

test('listing two hundred workflows asks the database no more often than listing two', async () => {
  const { store, database } = await openTestStore()
  const { listWorkflows } = createQueries(store, { isBusy: () => false })
  const asked = vi.spyOn(database, 'all')
  const questionsFor = (count: number): number => {
    store.transaction((tx) => {
      for (let n = 0; n < count; n += 1)
        tx.workflows.insert(buildWorkflow({ id: `wf_${count}_${n}`, activeScriptId: null }))
    })
    asked.mockClear()
    listWorkflows()
    return asked.mock.calls.length
  }
  const few = questionsFor(2)
  expect(questionsFor(200)).toBe(few)
})

test('a workflow that waits for a retry says when that is, apart from when it wakes for anything', async () => {
  const world = await openTestEngine()
  const reading = producerScript(`async handler(state, ctx) { await ctx.box.get(1) }`, `{ interval: '10m' }`)
  world.box.answers.push(failed('network'))
  const id = await world.deploy(reading)
  await world.settle()
  const retryAt = world.value(`SELECT retry_at FROM handler_runs`)
  expect(retryAt).toBeGreaterThan(world.clock.now())
  expect(world.engine.listWorkflows()).toMatchObject([{ state: 'retrying', retryAt }])
  await world.engine.pauseWorkflow(id)
  expect(world.engine.listWorkflows()).toMatchObject([{ state: 'paused', retryAt: null, nextWakeAt: null }])
  await world.engine.resumeWorkflow(id)
  world.clock.advance(Number(retryAt) - world.clock.now())
  await world.settle()
  expect(world.engine.listWorkflows()).toMatchObject([{ state: 'idle', retryAt: null }])
})

test('what was set for a workflow is forgotten with it', async () => {
  const world = await openTestEngine()
  const id = await world.deploy(consumerScript())
  await world.engine.changeWorkflow(id, { limits: { cpuMs: 1000 } })
  expect(world.value(`SELECT count(*) FROM settings`)).toBe(1)
  await world.engine.deleteWorkflow(id)
  expect(world.value(`SELECT count(*) FROM settings`)).toBe(0)
})
