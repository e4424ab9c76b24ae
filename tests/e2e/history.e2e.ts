import { SessionPage } from './pages/session-page.ts'
import { SettingsPage } from './pages/settings-page.ts'
import { expectAccessible } from './support/axe.ts'
import { expect, test } from './support/test.ts'

test('a session gets another agent, is put away when it is over, brought back, and deleted for good', async ({
  page,
  complaints,
}) => {
  const session = new SessionPage(page)
  const settings = new SettingsPage(page)
  await session.openBuilder('new-customer')
  await expect(page.getByText('Ready to start.')).toBeVisible()
  await session.button('Create').click()
  // The builder has a button of the same name.
  await expect(session.state).toHaveText(/Not started/)
  await session.button('Add an agent').click()
  const dialog = page.getByRole('dialog', { name: 'Add an agent' })
  await dialog.getByLabel('Name').fill('greet me')
  await dialog.getByRole('button', { name: 'Add the agent' }).click()
  await expect(dialog).toContainText(/name|key/)
  await dialog.getByLabel('Name').fill('watcher')
  await dialog.getByLabel('Role').fill('watches')
  await dialog.getByLabel('Task').fill('Look on')
  await dialog.getByRole('button', { name: 'Add the agent' }).click()
  await expect(session.agents.getByRole('button', { name: /watcher/ })).toBeVisible()

  await session.choose('Cancel')
  await expect(session.state).toHaveText(/Cancelled/)
  await session.choose('Archive')
  await expect(page).toHaveURL(/#\/sessions$/)

  await settings.go('#/settings/history')
  await page.getByLabel('Finished runs and sessions').selectOption('90 days')
  await expect(settings.toasts).toContainText('Kept for 90 days')
  expect(await settings.ask('getRetention')).toMatchObject({ days: 90, archives: { count: 1 } })
  const entry = settings.card('Put away').getByRole('row').nth(1)
  await expect(entry).toContainText('session')
  await expectAccessible(page)

  await entry.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Bring back' }).click()
  await expect(entry).toContainText('back to be looked at')
  await page.getByRole('button', { name: 'Put away and give space back' }).click()
  await expect(settings.toasts).toContainText('Gave back')

  await entry.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click()
  await expect(page.getByText('Nothing was put away yet')).toBeVisible()
  expect(complaints).toEqual([])
})
