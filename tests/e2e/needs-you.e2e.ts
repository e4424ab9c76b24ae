import { AppPage } from './pages/app-page.ts'
import { EditorPage } from './pages/editor-page.ts'
import { InboxPage } from './pages/inbox-page.ts'
import { RunPage } from './pages/run-page.ts'
import { invoiceScript, triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a failing script is found by its line, mended and retried', async ({ page, complaints }) => {
  const app = new AppPage(page)
  await app.open()
  await app.deploy(invoiceScript())
  await app.settle()
  await expect(page).toHaveTitle(/^\(1\) /)

  await page
    .getByRole('region', { name: 'Needs you' })
    .getByRole('link', { name: /Invoice check/ })
    .click()
  const inbox = new InboxPage(page)
  const question = inbox.of('Invoice check')
  await expect(
    question.getByRole('region', { name: /around line 19/ }).locator('[aria-current="location"]'),
  ).toContainText('event?.payload.lines.amount')
  await expect(question.getByRole('link', { name: 'Edit the script' })).toHaveAttribute('href', /line=19/)

  await question.getByRole('link', { name: 'check', exact: true }).click()
  const run = new RunPage(page)
  await expect(run.panel.getByRole('region', { name: /around line 19/ })).toContainText('lines.amount')
  await run.panel.getByRole('link', { name: 'Debug in editor' }).click()
  const editor = new EditorPage(page)
  await expect(editor.line('lines.amount')).toHaveClass(/cm-activeLine/)
  await editor.replaceAll(invoiceScript({ isMended: true }))
  await page.keyboard.press('ControlOrMeta+s')
  await page.getByRole('dialog').getByRole('button', { name: 'Save version 2' }).click()
  await expect(app.toasts).toContainText('Version 2 of Invoice check is saved')

  await page.goBack()
  await page.getByRole('link', { name: 'Settle it in the inbox' }).click()
  await inbox.settle('Invoice check', 'Retry')
  await expect(page.getByText('Nothing needs you')).toBeVisible()
  await page.goBack()
  await expect(page.getByText('Completed').first()).toBeVisible()
  await run.row(/check ×2/).click()
  await expect(run.panel).toContainText('version 2')
  await run.panel
    .getByRole('list', { name: 'Attempts' })
    .getByRole('button', { name: /Script failed/ })
    .click()
  await expect(run.panel).toContainText('version 1')
  expect(complaints).toEqual([])
})

test('a mutation whose outcome is unknown is settled in each of the three ways', async ({ page, complaints }) => {
  test.setTimeout(120_000)
  const app = new AppPage(page)
  await app.open('#/inbox')
  const names = ['It was', 'It was not', 'Never mind']
  // The first mutation of each is lost, and each is then held up by looking for it.
  await app.ask('setDemoKnobs', { loseNextResponse: names.length, unknownNextCheck: 1_000 })
  for (const name of names) await app.deploy(triageScript({ name, sheet: name }))
  const inbox = new InboxPage(page)
  await expect(inbox.questions).toHaveCount(3, { timeout: 60_000 })
  const question = inbox.of('It was')
  await expect(question).toContainText('Look at the last rows of the demo sheet "It was".')
  await expect(question).toContainText('Exactly this was sent')
  // No choice is a default one.
  expect(await question.locator('button.primary, [type=submit]').count()).toBe(0)

  await question.getByRole('button', { name: 'It happened' }).click()
  await question.getByLabel('What came back').fill('row-7')
  await expect(question.getByRole('button', { name: 'Yes, it happened' })).toBeDisabled()
  await question.getByLabel('What came back').fill('{ "id": "row-7" }')
  await question.getByRole('button', { name: 'Yes, it happened' }).click()
  await expect(inbox.questions).toHaveCount(2)
  await inbox.settle('It was not', 'It didn’t happen')
  await inbox.settle('Never mind', 'Skip it')
  await expect(page.getByText('Nothing needs you')).toBeVisible()
  await app.settle()

  const mutations = await app.ask(
    'sql',
    `SELECT w.name, m.status, m.resolved_by, m.result FROM mutations m JOIN workflows w ON w.id = m.workflow_id
     WHERE m.resolved_by IS NOT NULL ORDER BY w.name`,
  )
  expect(mutations).toEqual([
    { name: 'It was', status: 'applied', resolved_by: 'user_happened', result: '{"id":"row-7"}' },
    { name: 'It was not', status: 'failed', resolved_by: 'user_did_not_happen', result: null },
    { name: 'Never mind', status: 'indeterminate', resolved_by: 'user_skip', result: null },
  ])
  const skipped = await app.ask('sql', `SELECT count(*) AS n FROM events WHERE status = 'skipped'`)
  expect(skipped).toEqual([{ n: 1 }])

  await page.getByRole('link', { name: 'Settled' }).click()
  await expect(inbox.of('It was not')).toContainText('It didn’t happen')
  await inbox.of('It was').getByRole('link', { name: 'keep' }).click()
  const run = new RunPage(page)
  await expect(run.phase('Mutate')).toContainText('You said that it happened')
  expect(complaints).toEqual([])
})

test('a mutation that can be looked up is checked again when asked, and goes on by what was found', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  await app.open('#/inbox')
  await app.ask('setDemoKnobs', { loseNextResponse: 1, unknownNextCheck: 1_000 })
  await app.deploy(triageScript({ name: 'Look again', sheet: 'Look again' }))
  const inbox = new InboxPage(page)
  await expect(inbox.questions).toHaveCount(1, { timeout: 60_000 })
  await app.ask('setDemoKnobs', { unknownNextCheck: 0 })
  await inbox.settle('Look again', 'Check again')
  await expect(page.getByText('Nothing needs you')).toBeVisible()
  await app.settle()
  const settled = await app.ask('sql', `SELECT status, resolved_by FROM mutations WHERE resolved_by IS NOT NULL`)
  expect(settled).toEqual([{ status: 'applied', resolved_by: 'reconciled' }])
  const { effects } = await app.ask('demoSnapshot')
  expect(new Set(effects.map(({ key }) => key)).size).toBe(effects.length)
  expect(complaints).toEqual([])
})
