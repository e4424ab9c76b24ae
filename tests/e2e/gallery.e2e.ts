import { GalleryPage } from './pages/gallery-page.ts'
import { expectAccessible } from './support/axe.ts'
import { expect, test } from './support/test.ts'

// Rich journeys on a shared machine: how long they take is not what is promised.
test.describe.configure({ timeout: 120_000 })

test('a template is found, reviewed and started, with just the permissions that were granted', async ({
  page,
  complaints,
}) => {
  const gallery = new GalleryPage(page)
  await gallery.open()
  expect(await gallery.cards.count()).toBeGreaterThanOrEqual(10)
  await expectAccessible(page)

  await gallery.search('feed')
  await expect(gallery.cards).toHaveCount(1)
  await gallery.use('Feed reader')
  const { dialog } = gallery
  await dialog.getByLabel('Address of the feed').fill('news')
  await dialog.getByRole('button', { name: 'Start it' }).click()
  await expect(dialog).toContainText('This is not an address')
  await dialog.getByLabel('Address of the feed').fill('http://127.0.0.1:9/feed.xml')
  await expect(dialog.getByRole('checkbox')).toHaveCount(2)
  await expect(dialog).toContainText('Send and fetch data at 127.0.0.1:9')
  await dialog.getByRole('checkbox', { name: /127\.0\.0\.1/ }).uncheck()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Start it' }).click()

  await expect(page).toHaveURL(/#\/workflows\/wf_/)
  const rows = await page.evaluate(() => globalThis.holdfast.sql('SELECT name, status, permissions FROM workflows'))
  expect(rows).toMatchObject({ ok: true, value: [{ name: 'Feed reader', status: 'active', permissions: '["demo"]' }] })
  expect(complaints).toEqual([])
})
