import { expect, test } from './support/test.ts'

const script = `
export default defineWorkflow({
  name: 'Large',
  topics: { item: {} },
  consumers: { keep: { subscribe: ['item'], async prepare() { return { reservations: [], data: {} } } } },
})`

test('a full storage is told in words with what to do, stops the engine, and a backup still comes from memory', async ({
  page,
  context,
  appUrl,
}) => {
  const cdp = await context.newCDPSession(page)
  // Once IndexedDB is open a limit has no effect any more.
  const limit = (quotaSize: number) =>
    cdp.send('Storage.overrideQuotaForOrigin', { origin: new URL(appUrl).origin, quotaSize })
  await limit(4 * 2 ** 20)
  await page.goto('./')
  const published = await page.evaluate(async (source) => {
    const deployed = await globalThis.holdfast.deployWorkflow({ source })
    if (!deployed.ok) throw new Error(deployed.error.message)
    const isRunning = async () => {
      const info = await globalThis.holdfast.engineInfo()
      return info.ok && info.value.state === 'running'
    }
    let count = 0
    while (await isRunning()) {
      const text = Array.from({ length: 16_000 }, () => Math.random().toString(36)).join('')
      // The one that finds the storage full is answered only when it is saved.
      void globalThis.holdfast.publishEvent(deployed.value.workflowId, 'item', {
        messageId: `m${String(count++)}`,
        payload: text,
      })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return count
  }, script)

  const info = await page.evaluate(() => globalThis.holdfast.engineInfo())
  expect(info).toMatchObject({ ok: true, value: { state: 'storage_full' } })
  const storage = await page.evaluate(() => globalThis.holdfast.storage())
  expect(storage).toMatchObject({
    ok: true,
    value: { trouble: { kind: 'full' } },
  })
  const told = page.getByRole('alert').filter({ hasText: 'no room left for your data. Nothing is lost' })
  await expect(told).toContainText('download a backup now')

  const inBackup = await page.evaluate(async () => {
    const file = await globalThis.holdfast.exportDatabase()
    if (!file.ok) return file.error.message
    const checked = await globalThis.holdfast.checkImport(file.value)
    return checked.ok ? checked.value.rowsByTable['events'] : checked.error.message
  })
  expect(inBackup).toBe(published)
})
