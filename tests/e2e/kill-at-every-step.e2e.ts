import type { StepsOrder } from '../support/durability-site/steps.worker.ts'
import { dieAtEveryStep } from '../support/every-step.ts'
import { expect, test } from './support/durability-test.ts'

test('a worker that is ended at any step of opening or folding loses nothing that was acknowledged', async ({
  page,
  site,
}) => {
  test.setTimeout(300_000)
  await page.goto(site.url)
  const ask = (order: StepsOrder) => page.evaluate((order) => globalThis.giveOrder(order), order)
  const report = await dieAtEveryStep({ strike: ask, ask }, ['during'])
  expect(report).toMatchObject({ spared: [], losses: [] })
  expect(report.strikes).toBeGreaterThan(30)
})
