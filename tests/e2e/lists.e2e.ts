import { AppPage } from './pages/app-page.ts'
import { invoiceScript, triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('runs are searched, filtered by address, chosen and retried together', async ({ page, complaints }) => {
  const app = new AppPage(page)
  await app.open('#/workflows')
  const workflowId = await app.deploy(invoiceScript())
  await app.deploy(triageScript())
  await app.settle()

  await page.getByRole('searchbox').fill('invoice')
  await expect(page.getByRole('row')).toHaveCount(2)
  await page.getByLabel('State').selectOption('paused')
  await expect(page.getByText('None of your workflows matches')).toBeVisible()
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(page.getByRole('row')).toHaveCount(3)

  await app.go(`#/workflows/${workflowId}/runs?result=failed`)
  const runs = page.getByRole('table', { name: 'Runs' })
  await expect(runs.getByRole('link')).toHaveCount(1)
  await page.reload()
  await expect(runs.getByRole('link')).toHaveCount(1)
  await page.getByLabel('Result').selectOption('completed')
  await expect(runs).not.toContainText('Failed')
  await page.getByLabel('Result').selectOption('')
  await page.getByLabel('Handler').selectOption('check')
  await page.getByRole('searchbox').fill('amount')
  await expect(runs.getByRole('link')).toHaveCount(1)

  await runs.getByRole('checkbox', { name: 'Choose all that are loaded' }).check()
  const bulk = page.getByRole('group', { name: 'Chosen runs' })
  await expect(bulk).toContainText('1 run chosen')
  await expect(bulk.getByRole('button', { name: 'Cancel' })).toBeDisabled()
  await bulk.getByRole('button', { name: 'Skip events' }).click()
  await expect(app.toasts).toContainText('1 run skipped')
  await app.settle()
  expect(await app.ask('listEscalations', { open: true })).toEqual([])

  await app.go(`#/workflows/${workflowId}/events?status=skipped`)
  await expect(page.getByRole('list', { name: 'Events' }).getByRole('button')).toHaveCount(1)
  expect(complaints).toEqual([])
})
