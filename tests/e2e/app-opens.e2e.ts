import { expect, test } from './support/test.ts'

test('the engine chip says that the engine runs, and the engine answers on globalThis.holdfast', async ({
  page,
  complaints,
}) => {
  await page.goto('./')

  await expect(page.getByRole('status', { name: 'Engine' })).toContainText('Running')
  const answer = await page.evaluate(() => globalThis.holdfast.engineInfo())
  expect(answer).toMatchObject({ ok: true, value: { role: 'leader', state: 'running' } })
  expect(complaints).toEqual([])
})

test('an engine whose worker does not load says so', async ({ page }) => {
  await page.route('**/engine.worker-*.js', (route) => route.abort())
  await page.goto('./')

  await expect(page.getByRole('status', { name: 'Engine' })).toContainText('Not running')
})

test('nothing scrolls sideways on a narrow phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 640 })
  await page.goto('./')
  await expect(page.getByRole('status', { name: 'Engine' })).toContainText('Running')

  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
})

test('an address that leads nowhere says so and leads back', async ({ page }) => {
  await page.goto('./#/nowhere')
  await page.getByRole('link', { name: 'Go to the dashboard' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Welcome' })).toBeVisible()
})

test('the first screen stands after a handful of files, and the gallery comes after it', async ({ page }) => {
  const asked: string[] = []
  page.on('request', (request) => void asked.push(new URL(request.url()).pathname))
  await page.goto('./')
  await page.getByRole('button', { name: 'Start with a live demo' }).waitFor()
  await page.getByRole('article').first().waitFor()

  const gallery = asked.findIndex((path) => path.includes('gallery-cards'))
  const before = asked.slice(0, gallery).filter((path) => /\.(js|css)$/.test(path) && !path.includes('worker'))
  expect(gallery).toBeGreaterThan(0)
  expect(before.length).toBeLessThanOrEqual(8)
})
