import { expect, test } from './support/test.ts'

test('the page shows the engine running', async ({ page, complaints }) => {
  await page.goto('./')

  const card = page.getByRole('region', { name: 'Engine' })
  await expect(card.getByRole('status')).toContainText('The engine is running.')
  await expect(card).toContainText(/SQLite\s*3\.\d+\.\d+/)
  expect(complaints).toEqual([])
})

test('the engine answers on globalThis.holdfast', async ({ page, complaints }) => {
  await page.goto('./')

  const answer = await page.evaluate(() => globalThis.holdfast.engineInfo())

  expect(answer).toMatchObject({ ok: true, value: { role: 'leader', state: 'running' } })
  expect(complaints).toEqual([])
})

test('an engine whose worker does not load says so', async ({ page }) => {
  await page.route('**/engine.worker-*.js', (route) => route.abort())
  await page.goto('./')

  await expect(page.getByRole('status')).toContainText('Not running')
})

test('nothing scrolls sideways on a narrow phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 640 })
  await page.goto('./')
  await expect(page.getByRole('status')).toContainText('Running')

  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
})
