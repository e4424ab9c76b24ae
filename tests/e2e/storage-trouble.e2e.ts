import type { Page } from '@playwright/test'
import type { StorageState } from '#worker/persistence/storage-state.ts'
import type {} from '../support/durability-site/site.ts'
import { createProfile, launchChromium, type LaunchedChromium } from '../support/launch-chromium.ts'
import { expect, test as base, type ServedSite } from './support/durability-test.ts'

/** A profile on disk: in a private window the browser forgets the data when it closes the connection. */
const test = base.extend<{ chromium: LaunchedChromium }>({
  chromium: async ({}, use) => {
    const profile = await createProfile()
    const chromium = await launchChromium(profile.folder)
    await use(chromium)
    await chromium.kill()
    await profile.remove()
  },
})

const add = (page: Page, call: string) => page.evaluate((call) => globalThis.ledger.add(call), call)
const check = (page: Page) => page.evaluate(() => globalThis.ledger.check())
const storageOf = (page: Page) => page.evaluate(async (): Promise<StorageState> => globalThis.ledger.storage())

const openLedger = async ({ newPage }: LaunchedChromium, site: ServedSite): Promise<Page> => {
  const page = await newPage()
  await page.goto(site.url)
  for (const call of ['one', 'two', 'three']) await add(page, call)
  return page
}

test('a connection that the browser closes is opened again by itself, and nothing is lost', async ({
  chromium,
  site,
}) => {
  const page = await openLedger(chromium, site)
  const internals = await chromium.newPage()
  await internals.goto('chrome://indexeddb-internals/')
  await internals.locator('.force-close').click()
  let entries = 3
  const statesAfterOneMore = async () => {
    expect(await add(page, 'more')).toBe(++entries)
    return page.evaluate(() => globalThis.ledger.states())
  }
  await expect.poll(statesAfterOneMore).toEqual(['lost', 'ok'])
  await page.reload()
  expect(await check(page)).toBe(entries)
})

test('a newer version that takes over is let in, and the old tab stops with everything in memory', async ({
  chromium,
  site,
}) => {
  const page = await openLedger(chromium, site)
  const newer = await page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const request = indexedDB.open('ledger', 2)
        request.onsuccess = () => resolve(request.result.version)
        request.onerror = () => reject(new Error(String(request.error)))
      }),
  )
  expect(newer).toBe(2)
  await expect.poll(() => storageOf(page)).toMatchObject({ kind: 'superseded' })
  void add(page, 'four').catch(() => undefined)
  await expect.poll(() => check(page)).toBe(4)
  expect(await storageOf(page)).toMatchObject({ kind: 'superseded' })
  expect((await page.evaluate(async () => (await globalThis.ledger.image()).length)) % 4096).toBe(0)
})

/** `storageTypes`: what of the origin is deleted while its tab is open. Answers what is found after a reload. */
const deleteUnder = async (chromium: LaunchedChromium, site: ServedSite, storageTypes: string) => {
  const page = await openLedger(chromium, site)
  const cdp = await chromium.context.newCDPSession(page)
  const { origin } = new URL(site.url)
  await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes })
  void add(page, 'four').catch(() => undefined)
  await expect.poll(() => storageOf(page)).toMatchObject({ kind: 'deleted' })
  expect(await check(page)).toBe(4)
  await page.reload()
  return page
}

test('a database that is deleted under an open tab stays in its memory, and after a reload what was saved is there', async ({
  chromium,
  site,
}) => {
  const page = await deleteUnder(chromium, site, 'indexeddb')
  expect(await check(page)).toBe(3)
  expect(await add(page, 'goes on')).toBe(4)
})

test('data that is deleted with all its files stays in memory, and after a reload one begins anew', async ({
  chromium,
  site,
}) => {
  const page = await deleteUnder(chromium, site, 'indexeddb,file_systems')
  expect(await check(page)).toBe(0)
  expect(await add(page, 'anew')).toBe(1)
})
