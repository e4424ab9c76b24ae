import { expect, test } from './support/test.ts'

test('a damaged log stops the engine with words, and what is there can still be got out', async ({ page }) => {
  await page.goto('./')
  await page.evaluate(() => globalThis.holdfast.idle())
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
  const info = await page.evaluate(() => globalThis.holdfast.engineInfo())
  expect(info).toMatchObject({ ok: false, error: { code: 'storage' } })
  expect(info.ok ? '' : info.error.message).toContain('damaged')
  const rescued = await page.evaluate(async () => {
    const file = await globalThis.holdfast.exportDatabase()
    return file.ok ? file.value.length : file.error.message
  })
  expect(rescued).toEqual(expect.any(Number))
})
