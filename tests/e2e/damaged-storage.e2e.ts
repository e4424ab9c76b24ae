import type { Page } from '@playwright/test'
import { expect, test } from './support/test.ts'

const script = `
export default defineWorkflow({
  name: 'Kept',
  topics: { item: {} },
  consumers: { keep: { subscribe: ['item'], async prepare() { return { reservations: [], data: {} } } } },
})`

/** Opens the app, puts a workflow into it, damages what is stored, and opens it again. Answers with a backup from before. */
async function openDamaged(page: Page): Promise<number[]> {
  await page.goto('./')
  await page.evaluate((source) => globalThis.holdfast.deployWorkflow({ source }), script)
  const backup = await page.evaluate(async () => {
    const file = await globalThis.holdfast.exportDatabase()
    return file.ok ? [...file.value] : []
  })
  // Leave the page, so that nobody has the database open, and break the oldest record of the log.
  await page.goto('./favicon.svg')
  await page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('holdfast')
        opening.onerror = () => reject(new Error('The database does not open.'))
        opening.onsuccess = () => {
          const change = opening.result.transaction('log', 'readwrite')
          change.objectStore('log').openCursor().onsuccess = ({ target }) => {
            const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result
            const bytes = new Uint8Array((cursor?.value as ArrayBuffer).slice(0))
            bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 255
            cursor?.update(bytes.buffer)
          }
          change.oncomplete = () => {
            opening.result.close()
            resolve()
          }
        }
      }),
  )
  await page.goto('./')
  return backup
}

const names = (page: Page) =>
  page.evaluate(async () => {
    const listed = await globalThis.holdfast.listWorkflows()
    return listed.ok ? listed.value.map(({ name }) => name) : listed.error.message
  })

test('a damaged log stops the engine with words, and what is there can still be got out', async ({ page }) => {
  await openDamaged(page)
  const info = await page.evaluate(() => globalThis.holdfast.engineInfo())
  expect(info).toMatchObject({ ok: false, error: { code: 'storage' } })
  expect(info.ok ? '' : info.error.message).toContain('damaged')
  const rescued = await page.evaluate(async () => {
    const file = await globalThis.holdfast.exportDatabase()
    return file.ok ? file.value.length : file.error.message
  })
  expect(rescued).toEqual(expect.any(Number))
})

test('a backup can be restored over a damaged database, which is kept and can be gone back to', async ({ page }) => {
  const backup = await openDamaged(page)
  expect(await names(page)).toContain('damaged')
  expect(await page.evaluate(() => globalThis.holdfast.importDatabase(new Uint8Array([1, 2, 3])))).toMatchObject({
    ok: false,
    error: { code: 'invalid_input' },
  })
  const importing = (bytes: number[]) =>
    page.evaluate((file) => globalThis.holdfast.importDatabase(new Uint8Array(file)), bytes)
  expect(await importing(backup)).toEqual({ ok: true, value: null })
  await expect.poll(() => names(page)).toEqual(['Kept'])

  expect(await page.evaluate(() => globalThis.holdfast.undoImport())).toEqual({ ok: true, value: null })
  await expect.poll(() => names(page)).toContain('damaged')
  expect(await page.evaluate(() => globalThis.holdfast.undoImport())).toEqual({ ok: true, value: null })
  await expect.poll(() => names(page)).toEqual(['Kept'])
})

test('without a backup one can start anew, and go back to what could not be opened', async ({ page }) => {
  await openDamaged(page)
  await page.goto('./#/settings/backup')
  await page.getByRole('button', { name: 'Start anew' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start anew' }).click()
  await expect.poll(() => names(page)).toEqual([])
  await expect(page.getByText('cannot be opened')).toHaveCount(0)
  await page.getByRole('button', { name: 'Go back to it' }).click()
  await expect.poll(() => names(page)).toContain('damaged')
})
