import type { Page } from '@playwright/test'
import { AppPage } from './pages/app-page.ts'
import { EditorPage } from './pages/editor-page.ts'
import { RunPage } from './pages/run-page.ts'
import { expectAccessible } from './support/axe.ts'
import { invoiceScript, triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a failed run is looked into with its real input, and mended before anything is saved', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  const editor = new EditorPage(page)
  const run = new RunPage(page)
  await app.open()
  const id = await app.deploy(invoiceScript())
  await app.settle()
  const [failed] = (await app.ask('listRuns', { workflowId: id })).rows
  await app.go(`#/runs/${failed?.id}`)
  await run.row(/check/).click()
  await run.panel.getByRole('link', { name: 'Debug in editor' }).click()

  const result = page.getByRole('region', { name: 'Result of the test run' })
  await expect(page.getByRole('combobox', { name: 'Handler' })).toHaveValue('check')
  await editor.button('Run the test').click()
  await expect(result).toContainText('amount')
  await result.getByRole('button', { name: 'Go to line 19' }).click()
  await expect(editor.line('lines.amount')).toHaveClass(/cm-activeLine/)

  await editor.replaceAll(invoiceScript({ isMended: true }))
  await editor.button('Run the test').click()
  await expect(result).toContainText('Committed')
  await expect(result).toContainText('It would reserve 1 event')
  expect((await app.ask('getWorkflow', id)).version).toBe(1)
  expect(complaints).toEqual([])
})

test('a test run records the mutation and makes none', async ({ page, complaints }) => {
  const app = new AppPage(page)
  await app.open()
  const id = await app.deploy(triageScript())
  await app.settle()
  await app.ask('pauseWorkflow', id)
  await app.ask('publishEvent', id, 'mail', { messageId: 'm-1', payload: { from: 'ada@example.com' } })
  const before = (await app.ask('demoSnapshot')).effects.length

  await app.go(`#/workflows/${id}/script?test=1`)
  await page.getByRole('combobox', { name: 'Handler' }).selectOption('keep')
  await page.getByRole('button', { name: 'Run the test' }).click()
  const result = page.getByRole('region', { name: 'Result of the test run' })
  await expect(result).toContainText('demo.sheet.append')
  await expect(result).toContainText('Only recorded')
  await expect(result).toContainText('ada@example.com')
  await expect(result).toContainText('It would publish 1 event')
  await expectAccessible(page)
  expect((await app.ask('demoSnapshot')).effects.length).toBe(before)
  expect((await app.ask('listEvents', { workflowId: id, topic: 'mail', status: 'pending' })).rows).toHaveLength(1)
  expect(complaints).toEqual([])
})

test('a script that was never saved is tried on an input written for it, and not a byte of the database changes', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  const editor = new EditorPage(page)
  await editor.open('?test=1')
  await editor.replaceAll(invoiceScript())
  const handler = page.getByRole('combobox', { name: 'Handler' })
  await expect(handler).toHaveValue('check')
  const input = page.getByRole('textbox', { name: 'Input' })
  await expect(input).toHaveValue(/"topic": "invoice"/)
  const before = await databaseDigest(page)

  await input.fill('{\n  "events": [}')
  await expect(page.getByText(/This is not JSON: line 2, column 14/)).toBeVisible()
  await expect(editor.button('Run the test')).toBeDisabled()
  await input.fill('{ "events": [{ "topic": "invoice" }] }')
  await expect(page.getByText('Event 1 needs a "messageId"')).toBeVisible()
  await input.fill('{ "events": [{ "topic": "invoices", "messageId": "i7" }] }')
  await editor.button('Run the test').click()
  await expect(page.getByRole('alert')).toContainText('has no topic "invoices". It has "invoice".')

  const invoice = { events: [{ topic: 'invoice', messageId: 'i7', payload: { total: 12 } }] }
  await input.fill(JSON.stringify(invoice))
  await editor.button('Run the test').click()
  const result = page.getByRole('region', { name: 'Result of the test run' })
  for (const _ of ['first', 'again']) {
    await result.getByRole('button', { name: 'Go to line 19' }).click()
    await expect(editor.line('lines.amount')).toHaveClass(/cm-activeLine/)
    await page.keyboard.press('ControlOrMeta+Home')
  }

  await editor.replaceAll(invoiceScript({ isMended: true }))
  await editor.button('Run the test').click()
  await expect(result).toContainText('Committed')
  await expect(result).toContainText('It would reserve 1 event')
  await editor.button('Back to what was copied').click()
  await expect(input).toHaveValue(/sample-1/)

  expect(await app.ask('listWorkflows')).toEqual([])
  expect(await databaseDigest(page)).toBe(before)
  expect(complaints).toEqual([])
})

const databaseDigest = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const file = await globalThis.holdfast.exportDatabase()
    if (!file.ok) throw new Error(file.error.message)
    const digest = await crypto.subtle.digest('SHA-256', Uint8Array.from(file.value))
    return [...new Uint8Array(digest)].join(' ')
  })
