import { AppPage } from './pages/app-page.ts'
import { RunPage } from './pages/run-page.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a workflow is found, run, watched, paused and taken back, and every screen of it shows the same', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  await app.open()
  await expect(app.heading('Welcome')).toBeVisible()
  const id = await app.deploy(triageScript())
  await app.settle()

  // The dashboard has noticed by itself.
  await expect(page.getByRole('region', { name: 'Workflows' })).toContainText('Inbox triage')
  await expect(page.getByRole('region', { name: 'Recent runs' })).toContainText('Completed')

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Workflows' }).click()
  await expect(app.heading('Workflows')).toBeFocused()
  const row = page.getByRole('row', { name: /Inbox triage/ })
  await expect(row).toContainText('every 5 minutes')
  await row.getByRole('link', { name: 'Inbox triage' }).click()
  await expect(app.heading('Inbox triage')).toBeVisible()
  await expect(page.getByRole('region', { name: 'It watches' })).toContainText('poll')
  await expect(page.getByRole('region', { name: 'It does' })).toContainText('takes mail, changes something outside')

  await app.ask('deliverDemoMail', { from: 'ada@example.com', subject: 'A new mail' })
  await page.getByRole('button', { name: 'Run now' }).click()
  await app.toasts.getByRole('button', { name: 'Show the run' }).click()
  const run = new RunPage(page)
  await expect(app.heading('Run of Inbox triage')).toBeVisible()
  await expect(page.getByText('Completed').first()).toBeVisible()
  await run.row(/Add a row for ada@example.com/).click()
  await expect(run.panel).toContainText('Committed')
  await expect(run.phase('Mutate')).toContainText('demo.sheet.append')
  await expect(run.phase('Mutate')).toContainText('ada@example.com')
  await run.phase('Prepare').locator('summary').first().click()
  await expect(run.phase('Prepare')).toContainText('"reservations"')
  expect(page.url()).toContain('attempt=hr_')

  await app.go(`#/workflows/${id}`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
  await app.toasts.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible()

  // What is published by hand is carried like any other event.
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByRole('button', { name: 'Publish an event' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish an event' })
  await dialog.getByLabel('Message id').fill('by-hand')
  await dialog.getByLabel('Title').fill('Made by hand')
  await dialog.getByLabel('Payload').fill('{ "from": ')
  await expect(dialog.getByText('This is not JSON')).toBeVisible()
  await dialog.getByLabel('Payload').fill('{ "from": "by-hand@example.com" }')
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('button', { name: /Made by hand/ }).click()
  await expect(page.getByRole('region', { name: 'Event' })).toContainText('Consumed')
  await expect(page.getByRole('region', { name: 'Event' })).toContainText('by-hand@example.com')

  await page.getByRole('link', { name: 'Graph' }).click()
  await expect(page.getByRole('group', { name: 'Graph of Inbox triage' }).getByRole('link')).toHaveCount(4)
  await page.getByRole('button', { name: 'Show as list' }).click()
  await expect(page.getByRole('row', { name: /keep/ })).toContainText('mail')

  await page.getByRole('link', { name: 'Settings', exact: true }).last().click()
  await page.getByLabel('Budget').fill('7')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(app.toasts).toContainText('Saved')
  await page.getByRole('button', { name: 'Delete …' }).click()
  const sure = page.getByRole('dialog')
  await expect(sure.getByRole('button', { name: 'Delete for good' })).toBeDisabled()
  await sure.getByRole('textbox').fill('Inbox triage')
  await sure.getByRole('button', { name: 'Delete for good' }).click()
  await expect(page.getByText('No workflows yet')).toBeVisible()
  expect(complaints).toEqual([])
})
