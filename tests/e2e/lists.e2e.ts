import initSqlJs from 'sql.js'
import { AppPage } from './pages/app-page.ts'
import { invoiceScript, triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('runs are searched, filtered by address, chosen, retried and skipped together', async ({ page, complaints }) => {
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
  await bulk.getByRole('button', { name: 'Retry' }).click()
  await expect(app.toasts).toContainText('1 run tried again')
  await app.settle()
  // It is the same script, so it asks again.
  await runs.getByRole('checkbox', { name: 'Choose all that are loaded' }).check()
  await bulk.getByRole('button', { name: 'Skip events' }).click()
  await expect(app.toasts).toContainText('1 run skipped')
  await app.settle()
  expect(await app.ask('listEscalations', { open: true })).toEqual([])

  await app.go(`#/workflows/${workflowId}/events?status=skipped`)
  await expect(page.getByRole('list', { name: 'Events' }).getByRole('button')).toHaveCount(1)
  expect(complaints).toEqual([])
})

/** A backup with very many more events of a workflow in it, older than all others. */
async function withOldEvents(backup: Uint8Array, workflowId: string, count: number): Promise<Buffer> {
  const { Database } = await initSqlJs()
  const database = new Database(backup)
  database.run(
    `WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < ${count})
     INSERT INTO events (id, topic_id, workflow_id, message_id, title, payload, status, caused_by, created_at)
     SELECT 'evt_0000000000' || printf('%016d', n), (SELECT min(id) FROM topics WHERE workflow_id = $id), $id, 'm' || n, 'Old ' || n,
       '{}', 'consumed', '[]', 0 FROM c`,
    { $id: workflowId },
  )
  return Buffer.from(database.export())
}

test('an old event among thousands is found while the engine goes on, and a new search takes the place of the old', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  await app.open('#/workflows')
  const workflowId = await app.deploy(triageScript())
  await app.settle()
  const backup = await page.evaluate(async () => {
    const exported = await globalThis.holdfast.exportDatabase()
    return exported.ok ? [...exported.value] : []
  })
  const body = await withOldEvents(Uint8Array.from(backup), workflowId, 15_000)
  await page.route('**/big.sqlite', (route) => route.fulfill({ body }))
  const imported = await page.evaluate(async () => {
    const file = await (await fetch('big.sqlite')).arrayBuffer()
    return globalThis.holdfast.importDatabase(new Uint8Array(file))
  })
  expect(imported).toMatchObject({ ok: true })

  const runs = (await app.ask('listRuns', { workflowId })).rows.length
  await app.go(`#/workflows/${workflowId}/events?text=Old 2345`)
  await app.ask('runWorkflow', workflowId)
  const events = page.getByRole('list', { name: 'Events' })
  await expect(events.getByRole('button')).toHaveText([/Old 2345/])

  await page.getByRole('searchbox').fill('nothing is called like that')
  await page.getByRole('searchbox').fill('m1234')
  await expect(events.getByRole('button')).toHaveCount(11)
  await app.settle()
  expect((await app.ask('listRuns', { workflowId })).rows.length).toBe(runs + 1)
  expect(complaints).toEqual([])
})
