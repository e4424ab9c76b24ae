import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createStaticServer, listen } from '../../scripts/serve.mjs'
import { AppPage } from './pages/app-page.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))

test.use({ serviceWorkers: 'allow' })

test('the application works offline after the first visit, and a new version waits to be asked for', async ({
  page,
  context,
  complaints,
}) => {
  test.setTimeout(120_000)
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-dist-'))
  await cp(DIST, folder, { recursive: true })
  const server = createStaticServer(folder)
  const url = await listen(server, 0)
  const app = new AppPage(page)
  await page.goto(url)
  await expect(app.chip).toContainText('Running')
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })

  // Not one screen of these has been loaded before.
  await context.setOffline(true)
  await page.reload()
  await expect(app.chip).toContainText('Running')
  await app.deploy(triageScript())
  await app.settle()
  await app.go('#/workflows')
  await expect(app.heading('Workflows')).toBeVisible()
  await page.getByRole('row').getByRole('link', { name: 'Inbox triage' }).click()
  await page.getByRole('link', { name: 'Graph' }).click()
  await expect(page.getByRole('group', { name: 'Graph of Inbox triage' })).toBeVisible()
  await context.setOffline(false)

  // A new version: the same files under another name.
  const worker = join(folder, 'service-worker.js')
  await writeFile(worker, (await readFile(worker, 'utf8')).replace(/"version":"\w+"/, '"version":"newer"'))
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update())
  const banner = page.getByRole('status').filter({ hasText: 'A new version is ready' })
  await expect(banner).toBeVisible()
  await banner.getByRole('button', { name: 'Update now' }).click()
  // The page is loaded anew in between, and then has no answer.
  await expect.poll(() => page.evaluate(() => caches.keys()).catch(() => [])).toContain('holdfast-newer')
  await expect(banner).toBeHidden()
  await expect(app.chip).toContainText('Running')
  await expect(page.getByRole('group', { name: 'Graph of Inbox triage' })).toBeVisible()
  expect(complaints).toEqual([])
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})
