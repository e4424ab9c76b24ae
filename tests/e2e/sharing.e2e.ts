import { readFile } from 'node:fs/promises'
import { packedToShared } from '#ui/features/sharing/share-link.ts'
import { ImportPage } from './pages/import-page.ts'
import { expectAccessible } from './support/axe.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a workflow goes to another browser by a link, and is a draft there that may do only what is granted', async ({
  page,
  browser,
  appUrl,
  complaints,
}) => {
  const here = new ImportPage(page)
  await here.open()
  const id = await here.deploy(triageScript())
  const retryPolicy = { retries: 1, firstDelayMs: 500, factor: 1, longestDelayMs: 500 }
  await here.ask('changeWorkflow', id, { budget: 9, retryPolicy, retentionDays: 3 })
  const link = await here.linkOf(id)

  const context = await browser.newContext({ serviceWorkers: 'block' })
  const there = new ImportPage(await context.newPage())
  await there.page.goto(link)
  await expect(there.permissions.getByRole('checkbox')).toHaveCount(1)
  await expect(there.permissions.getByRole('checkbox')).not.toBeChecked()
  await expect(there.page.getByLabel('Script of Inbox triage')).toContainText('ctx.demo.sheet.append')
  await expect(there.page.getByText('1 retry, after 500 ms.')).toBeVisible()
  await expectAccessible(there.page)
  await there.save.click()
  await expect(there.heading('Inbox triage')).toBeVisible()
  expect(await there.ask('listWorkflows')).toMatchObject([{ name: 'Inbox triage', status: 'draft', permissions: [] }])
  const [imported] = await there.ask('listWorkflows')
  // How long a history is kept is for each browser to say.
  expect(await there.ask('getWorkflow', imported?.id ?? '')).toMatchObject({
    budget: 9,
    retryPolicy,
    retentionDays: null,
  })
  await context.close()
  expect(link.startsWith(appUrl)).toBe(true)
  expect(complaints).toEqual([])
})

test('a workflow goes by a file, and what is no workflow is refused with a sentence', async ({ page, complaints }) => {
  const app = new ImportPage(page)
  await app.open()
  const id = await app.deploy(triageScript())
  await app.ask('putSecret', { name: 'TOKEN', value: 'a-very-secret-value', hosts: ['api.example.com'] })
  const link = await app.linkOf(id)
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download a file' }).click()
  const file = await waiting
  expect(file.suggestedFilename()).toBe('inbox-triage.workflow.json')
  const content = await readFile(await file.path(), 'utf8')
  // A link holds what the file holds: the script and how it is set, and nothing that is secret.
  const shared = await packedToShared(new URLSearchParams(link.slice(link.indexOf('?'))).get('w') ?? '')
  expect(JSON.parse(content)).toEqual({ format: 'holdfast.workflow', version: 1, ...(shared.ok && shared.value) })
  expect(shared).toHaveProperty('value.source', triageScript())
  expect(content + JSON.stringify(shared)).not.toContain('a-very-secret-value')

  await app.go('#/import')
  await app.chooseFile('holiday.json', '{"beach":true}')
  await expect(app.problem).toContainText('not a workflow from Holdfast')
  await page.getByLabel('Link, file content or script').fill('https://example.com/#/import?w=abc')
  await page.getByRole('button', { name: 'Look at it' }).click()
  await expect(app.problem).toContainText('The link is damaged')

  await app.chooseFile('broken.workflow.json', content.replace('topics: {', 'topics: ['))
  await expect(page.getByText('cannot be imported')).toBeVisible()
  await expect(app.save).toBeDisabled()

  await app.go('#/import')
  await app.chooseFile('inbox.workflow.json', content)
  await app.permissions.getByRole('checkbox').check()
  await app.save.click()
  await expect(app.toasts).toContainText('Imported as a draft')
  const workflows = await app.ask('listWorkflows')
  expect(workflows.map(({ status, permissions }) => [status, permissions])).toEqual(
    expect.arrayContaining([['draft', ['demo']]]),
  )
  expect(complaints).toEqual([])
})
