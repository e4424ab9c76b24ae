import type { Page } from '@playwright/test'
import { AppPage } from './pages/app-page.ts'
import { expect, test } from './support/test.ts'

const script = `
export default defineWorkflow({
  name: 'Quiet',
  topics: { item: {} },
  consumers: { keep: { subscribe: ['item'], async prepare() { return { reservations: [], data: {} } } } },
})`

const role = (page: Page) =>
  page.evaluate(async () => {
    const info = await globalThis.holdfast.engineInfo()
    return info.ok ? info.value.role : info.error.code
  })

const names = (page: Page) =>
  page.evaluate(async () => {
    const listed = await globalThis.holdfast.listWorkflows()
    return listed.ok ? listed.value.map(({ name }) => name) : listed.error.message
  })

test('a second tab sees and does everything, and takes over when the first is closed', async ({ context }) => {
  const first = await context.newPage()
  await first.goto('./')
  expect(await role(first)).toBe('leader')
  const second = await context.newPage()
  await second.goto('./')
  expect(await role(second)).toBe('follower')

  const deployed = await second.evaluate((source) => globalThis.holdfast.deployWorkflow({ source }), script)
  expect(deployed).toMatchObject({ ok: true })
  expect(await names(first)).toEqual(['Quiet'])

  // What is done in the one is seen in the other, without anything being asked for.
  const there = new AppPage(second)
  await expect(there.chip).toContainText('Follower')
  await first.getByRole('region', { name: 'Workflows' }).getByRole('link', { name: 'Quiet' }).click()
  await there.go(deployed.ok ? `#/workflows/${deployed.value.workflowId}` : '#/')
  await second.getByRole('button', { name: 'Pause' }).click()
  await expect(first.getByText('Paused', { exact: true })).toBeVisible()

  await first.close()
  await expect(there.toasts).toContainText('this one runs it now')
  await expect(there.chip).toContainText('Running')
  expect(await role(second)).toBe('leader')
  expect(await names(second)).toEqual(['Quiet'])
})

test('a backup brings everything back, a bad file changes nothing, and an import can be undone', async ({ page }) => {
  await page.goto('./')
  await page.evaluate((source) => globalThis.holdfast.deployWorkflow({ source }), script)
  const saved = await page.evaluate(async () => {
    const file = await globalThis.holdfast.exportDatabase()
    return file.ok ? [...file.value] : []
  })
  expect(String.fromCharCode(...saved.slice(0, 15))).toBe('SQLite format 3')

  const [workflow] = await page.evaluate(async () => {
    const listed = await globalThis.holdfast.listWorkflows()
    return listed.ok ? listed.value : []
  })
  await page.evaluate((id) => globalThis.holdfast.deleteWorkflow(id), workflow?.id ?? '')
  expect(await names(page)).toEqual([])

  const importing = (bytes: number[]) =>
    page.evaluate((file) => globalThis.holdfast.importDatabase(new Uint8Array(file)), bytes)
  const damaged = saved.map((byte, at) => (at > 5000 && at < 9000 ? 0 : byte))
  expect(await importing(damaged)).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
  expect(await importing([1, 2, 3])).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
  expect(await names(page)).toEqual([])

  expect(await importing(saved)).toEqual({ ok: true, value: null })
  await expect.poll(() => names(page)).toEqual(['Quiet'])
  expect(await page.evaluate(() => globalThis.holdfast.undoImport())).toEqual({ ok: true, value: null })
  await expect.poll(() => names(page)).toEqual([])
})
