import { AppPage } from './pages/app-page.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('everything is done by keyboard alone', async ({ page, complaints }) => {
  const app = new AppPage(page)
  const { keyboard } = page
  const press = async (...keys: string[]) => {
    for (const key of keys) await keyboard.press(key)
  }
  const focused = page.locator(':focus')
  await app.open()
  const id = await app.deploy(triageScript())
  await app.settle()

  await press('Tab', 'Enter')
  await expect(page.locator('#main')).toBeFocused()
  await press('g', 'w')
  await expect(app.heading('Workflows')).toBeFocused()
  await press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await keyboard.type('g w inbox')
  await expect(page.getByRole('searchbox')).toHaveValue('g w inbox')

  await press('Control+k')
  await keyboard.type('inbox triage')
  await expect(page.getByRole('dialog').getByRole('option', { selected: true })).toContainText('Inbox triage')
  await press('Enter')
  await expect(app.heading('Inbox triage')).toBeFocused()
  await press('p')
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
  await press('p')
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible()

  await press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(sheet).toContainText('Run now: Inbox triage')
  await press('Escape')
  await expect(sheet).toBeHidden()

  // Tabs by arrow keys, rows by arrow keys, and Enter opens.
  await page.getByRole('link', { name: 'Overview' }).focus()
  await press('ArrowRight', 'ArrowRight', 'Enter')
  await expect(page).toHaveURL(new RegExp(`#/workflows/${id}/runs`))
  await page.getByRole('table', { name: 'Runs' }).getByRole('rowgroup').last().focus()
  await press('ArrowDown', 'ArrowDown', 'ArrowUp')
  await expect(focused).toHaveAttribute('href', /#\/runs\/run_/)
  await press('Enter')
  await expect(app.heading('Run of Inbox triage')).toBeFocused()
  await page.getByRole('list', { name: 'Attempts' }).first().focus()
  await press('ArrowDown', 'Enter')
  await expect(focused).toHaveAttribute('aria-pressed', 'true')

  // A menu opens on Enter, walks by arrows, and Escape gives the focus back.
  await press('g', 'w')
  await page.getByRole('button', { name: 'Actions for Inbox triage' }).focus()
  await press('Enter')
  await expect(focused).toHaveText('Run now')
  await press('ArrowDown')
  await expect(focused).toHaveText('Pause')
  await press('Escape')
  await expect(page.getByRole('button', { name: 'Actions for Inbox triage' })).toBeFocused()
  expect(complaints).toEqual([])
})
