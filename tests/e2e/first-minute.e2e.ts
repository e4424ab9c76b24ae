import { AppPage } from './pages/app-page.ts'
import { DemoPage } from './pages/demo-page.ts'
import { expectAccessible } from './support/axe.ts'
import { expect, test } from './support/test.ts'

test('a first visit leads to a running demo, which survives that its worker is killed in the middle of a change', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  const demo = new DemoPage(page)
  await app.open()
  await expect(app.heading('Welcome')).toBeVisible()
  expect(await page.getByRole('article').count()).toBeGreaterThanOrEqual(14)
  await demo.start()

  // Events move: rows come up in the sheet while somebody is at work on the graph.
  await expect.poll(() => demo.booked('rows written')).toBeGreaterThan(0)
  await expect(demo.graph.getByRole('link', { name: /writeRow/ })).toContainText('Running')
  const before = await app.ask('engineInfo')
  await demo.kill()
  const { lastRecovery, epoch } = await app.ask('engineInfo')
  expect(epoch).toBeGreaterThan(before.epoch)
  expect(lastRecovery).toMatchObject({ violations: [], askedUser: 0, gaveUp: 0 })
  expect(lastRecovery?.continuedRuns).toBeGreaterThan(0)
  await expect(demo.story).toContainText('everything in it fits together')
  await expectAccessible(page)

  const rows = await demo.booked('rows written')
  await expect.poll(() => demo.booked('rows written')).toBeGreaterThan(rows)
  expect(await demo.booked('lost')).toBe(0)
  expect(await demo.booked('written twice')).toBe(0)

  // The banner follows to other screens, and leads back.
  await app.go('#/workflows')
  await demo.banner.getByRole('link', { name: 'Back to the demo' }).click()
  await page.getByRole('button', { name: 'Remove the demo' }).click()
  await expect(app.heading('Welcome')).toBeVisible()
  await expect(demo.banner).toHaveCount(0)
  expect(await app.ask('listSessions')).toEqual([])
  expect(complaints).toEqual([])
})
