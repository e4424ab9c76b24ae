import { SettingsPage } from './pages/settings-page.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a backup is downloaded, restored after a look at what is in it, and the restore undone', async ({
  page,
  complaints,
}) => {
  const settings = new SettingsPage(page)
  await settings.open('#/settings/backup')
  const id = await settings.deploy(triageScript())
  await settings.settle()
  const backup = await settings.downloadBackup()
  expect(backup.name).toMatch(/^holdfast-.*\.sqlite$/)
  await settings.ask('deleteWorkflow', id)

  await settings.chooseBackup({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Not a database.') })
  await expect(settings.restoreDialog).toContainText('This is not a SQLite file')
  await settings.restoreDialog.getByRole('button', { name: 'Close' }).last().click()

  await settings.chooseBackup(backup.path)
  const workflows = settings.restoreDialog.getByRole('row', { name: /^Workflows/ })
  await expect(workflows).toContainText('01')
  await settings.restoreDialog.getByRole('button', { name: 'Replace everything' }).click()
  await expect(settings.toasts).toContainText('Restored')
  await expect(settings.restoreDialog).toBeHidden()
  await expect.poll(async () => (await settings.ask('listWorkflows')).length).toBe(1)

  await settings.card('Restore').getByRole('button', { name: 'Go back to it' }).click()
  await expect(settings.toasts).toContainText('as it was before the import')
  await expect.poll(async () => (await settings.ask('listWorkflows')).length).toBe(0)
  expect(complaints).toEqual([])
})

test('automatic backups go to a chosen folder until they are switched off', async ({ page, complaints }) => {
  // The picker is the browser's own window: a folder of the origin stands in for the one a person would pick.
  await page.addInitScript(() => {
    Object.assign(globalThis, {
      showDirectoryPicker: async () =>
        (await navigator.storage.getDirectory()).getDirectoryHandle('Safe place', { create: true }),
    })
  })
  const settings = new SettingsPage(page)
  await settings.open('#/settings/backup')
  const card = settings.card('Automatic backup')
  await card.getByRole('button', { name: 'Choose a folder…' }).click()
  await expect(card).toContainText('Safe place')
  await expect(card).toContainText(/holdfast-.*\.sqlite/)
  const files = await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('Safe place')
    const names: string[] = []
    for await (const name of folder.keys()) names.push(name)
    return names
  })
  expect(files).toHaveLength(1)
  await card.getByRole('button', { name: 'Switch off' }).click()
  await expect(card.getByRole('button', { name: 'Choose a folder…' })).toBeVisible()
  await settings.toasts.getByRole('button', { name: 'Undo' }).click()
  await expect(card).toContainText('Safe place')
  expect(complaints).toEqual([])
})

test('every section of the settings has an address and says what is so', async ({ page, complaints }) => {
  const settings = new SettingsPage(page)
  await settings.open('#/settings')
  await settings.deploy(triageScript())
  await settings.settle()
  await expect(settings.card('By table').getByRole('row', { name: /^workflows/ })).toContainText('kB')

  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Backup' }).click()
  await expect(page).toHaveURL(/#\/settings\/backup$/)

  await settings.go('#/settings/appearance')
  await page.getByRole('radio', { name: /Dark/ }).check({ force: true })
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await page.getByRole('radio', { name: /System/ }).check({ force: true })

  await settings.go('#/settings/engine')
  await page.getByLabel('Workflows side by side').selectOption('4')
  await expect(settings.toasts).toContainText('Up to 4 workflows side by side')
  expect(await settings.ask('getPreferences')).toEqual({ maxParallelWorkflows: 4 })

  await page.setViewportSize({ width: 360, height: 740 })
  await settings.go('#/settings/about')
  await expect(page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'About' })).toBeInViewport({
    ratio: 1,
  })
  await expect(settings.card('Diagnostics')).toContainText('Engine: running, leader')
  expect(complaints).toEqual([])
})
