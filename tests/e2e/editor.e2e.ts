import { EditorPage } from './pages/editor-page.ts'
import { expectAccessible } from './support/axe.ts'
import { expect, test } from './support/test.ts'

// Rich journeys on a shared machine: how long they take is not what is promised.
test.describe.configure({ timeout: 120_000 })

test('the editor completes, explains and underlines what a phase may not do, under the strict policy', async ({
  page,
  complaints,
}) => {
  const editor = new EditorPage(page)
  await editor.open('?template=inbox-triage')
  await expect(editor.problems).toHaveText('No problems')

  await editor.typeAfter('const mails = await', 'ctx.demo.inbox.')
  // The first question waits until TypeScript has read its libraries.
  await expect(editor.completions.getByRole('option')).toHaveText([/get/, /list/], { timeout: 20_000 })
  await page.keyboard.press('Escape')
  await page.keyboard.type(`archive({ id: '1' })`)
  await expect(editor.problems).toHaveText('1 error')
  await expect(page.getByRole('button', { name: /1 error/ })).toContainText('Change things in mutate')
  await expectAccessible(page)

  await editor.line('const mails = await').getByText('list', { exact: true }).hover()
  await expect(page.getByRole('tooltip').or(page.locator('.cm-tooltip-hover'))).toContainText('Promise<DemoMail[]>')
  expect(complaints).toEqual([])
})

test('what the engine refuses is shown at its line and not saved; the corrected script runs', async ({
  page,
  complaints,
}) => {
  const editor = new EditorPage(page)
  await editor.open()
  const source = `export default defineWorkflow({
  name: 'Mine',
  topics: { a: {} },
  consumers: {
    c: { subscribe: ['a'], async prepare() { return { reservations: [] } } },
  },
})`
  await editor.replaceAll(source.replace("['a']", "['b']"))
  const summary = page.getByRole('button', { name: /error/ })
  await expect(summary).toBeVisible()
  await summary.click()
  const listed = page.getByRole('list', { name: 'Problems' })
  await expect(listed).toContainText('which is not declared')
  await listed.getByRole('button', { name: /not declared/ }).click()
  await expect(editor.line("subscribe: ['b']")).toHaveClass(/cm-activeLine/)

  await editor.button('Start…').click()
  await expect(page.getByText(/Nothing was saved/)).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await editor.replaceAll(source)
  await expect(editor.problems).toHaveText('No problems')
  await page.reload()
  await expect(editor.text).toContainText("name: 'Mine'")
  await editor.button('Start…').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start it' }).click()
  await expect(page).toHaveURL(/#\/workflows\/wf_/)
  const rows = await page.evaluate(() => globalThis.holdfast.listWorkflows())
  expect(rows).toMatchObject({ ok: true, value: [{ name: 'Mine', status: 'active', version: 1 }] })
  expect(complaints).toEqual([])
})

test('a new version is compared, saved and rolled back, and a paused workflow stays paused', async ({
  page,
  complaints,
}) => {
  const source = (text: string) => `export default defineWorkflow({
  name: 'Greeter',
  topics: { a: {} },
  producers: { tick: { schedule: { interval: '1h' }, publishes: ['a'], async handler(state, ctx) { ctx.log.info('${text}') } } },
})`
  await page.goto('./')
  const deployed = await page.evaluate((text) => globalThis.holdfast.deployWorkflow({ source: text }), source('one'))
  const id = deployed.ok ? deployed.value.workflowId : ''
  await page.evaluate((workflowId) => globalThis.holdfast.pauseWorkflow(workflowId), id)
  await page.goto(`./#/workflows/${id}/script`)

  const editor = new EditorPage(page)
  await expect(editor.text).toContainText("'one'")
  await expect(editor.button('Save…')).toBeDisabled()
  await editor.replaceAll(source('two'))
  await page.keyboard.press('ControlOrMeta+s')
  const dialog = page.getByRole('dialog', { name: 'Save as version 2' })
  await expect(dialog.locator('.cm-deletedChunk')).toContainText("'one'")
  await expect(dialog.locator('.cm-changedLine')).toContainText("'two'")
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Save version 2' }).click()
  await expect(page.getByRole('list', { name: 'Versions' }).getByRole('listitem')).toHaveCount(2)
  await expect(editor.button('Save…')).toBeDisabled()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Compare version 1' }).click()
  await page.getByRole('button', { name: 'Roll back as version 3' }).click()
  await expect(editor.text).toContainText("'one'")
  const workflows = await page.evaluate(() => globalThis.holdfast.listWorkflows())
  expect(workflows).toMatchObject({ ok: true, value: [{ version: 3, status: 'paused' }] })
  expect(complaints).toEqual([])
})

test('the script can be read before the editor is there, and who has come to a place in it stays there', async ({
  page,
  complaints,
}) => {
  let send = (): void => undefined
  const asked = new Promise<void>((resolve) => (send = resolve))
  await page.route(/\/live-editor-.*\.js$/, async (route) => {
    await asked
    await route.continue()
  })
  await page.goto('./#/workflows/new')
  const text = page.getByRole('group', { name: 'Script' })
  await expect(text).toContainText("name: 'My workflow'")
  await expectAccessible(page)
  await text.getByText("name: 'My workflow'").click({ position: { x: 60, y: 8 } })
  await expect(text).toBeFocused()

  const editor = new EditorPage(page)
  send()
  await expect(editor.text).toBeFocused()
  await page.keyboard.press('End')
  await page.keyboard.type(' // here')
  await expect(editor.line("import { defineWorkflow } from 'holdfast' // here")).toBeVisible()
  expect(complaints).toEqual([])
})

test('an editor that does not load leaves the script readable and says so', async ({ page }) => {
  await page.route(/\/live-editor-.*\.js$/, (route) => route.abort())
  await page.goto('./#/workflows/new')
  await expect(page.getByText('The editor could not be loaded')).toBeVisible()
  await expect(page.getByRole('group', { name: 'Script' })).toContainText("name: 'My workflow'")
})
