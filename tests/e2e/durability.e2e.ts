import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BrowserContext, Page } from '@playwright/test'
import type {} from '../support/durability-site/site.ts'
import { killAgainAndAgain } from '../support/kill-suite.ts'
import { createProfile } from '../support/launch-chromium.ts'
import { killLeaders } from '../support/leader-deaths.ts'
import { launchRawChromium } from '../support/raw-chromium.ts'
import { expect, test, type ServedSite } from './support/durability-test.ts'

const openTab = async (context: BrowserContext, site: ServedSite): Promise<Page> => {
  const page = await context.newPage()
  await page.goto(site.url)
  return page
}

const roleOf = (page: Page) => page.evaluate(() => globalThis.ledger.role())
const epochOf = (page: Page) => page.evaluate(() => globalThis.ledger.epoch())
const add = (page: Page, call: string) => page.evaluate((call) => globalThis.ledger.add(call), call)

test('a browser that is killed at random moments loses nothing that was acknowledged', async ({ site }) => {
  test.setTimeout(240_000)
  const report = await killAgainAndAgain(site, { kills: 20, isDishonest: false })
  expect(report).toMatchObject({ kills: 20, losses: 0 })
})

test('a browser that finds its database damaged and throws it away loses nothing that was acknowledged', async ({
  site,
}) => {
  test.setTimeout(120_000)
  const profile = await createProfile()
  const life = async (afterwards: () => Promise<void> = () => Promise.resolve()) => {
    const chromium = await launchRawChromium(profile.folder)
    try {
      const page = await chromium.openTab('about:blank')
      let acknowledged = -1
      await page.bind('acknowledge', (entry) => {
        acknowledged = Math.max(acknowledged, Number(entry))
      })
      await page.open(site.url)
      const found = await page.evaluate<number>(
        'ledger.hammer(proxied((entry) => acknowledge(String(entry))), { isDishonest: false })',
      )
      const wasRestored = await page.evaluate<boolean>('ledger.wasRestored()')
      await expect.poll(() => acknowledged, { timeout: 30_000 }).toBeGreaterThan(found + 50)
      await chromium.kill()
      await afterwards()
      return { found, wasRestored, acknowledged }
    } finally {
      await chromium.kill()
    }
  }
  try {
    const first = await life(() => tearLogOfIndexedDb(profile.folder))
    const second = await life(() => tearLogOfIndexedDb(profile.folder))
    const third = await life()
    expect(second.wasRestored).toBe(true)
    expect(second.found).toBeGreaterThanOrEqual(first.acknowledged)
    expect(third.wasRestored).toBe(true)
    expect(third.found).toBeGreaterThanOrEqual(second.acknowledged)
  } finally {
    await profile.remove()
  }
})

/**
 * As a kill in the middle of a write leaves it, once the browser has gone on writing behind: it finds that out when it opens it again,
 * and throws everything away.
 */
async function tearLogOfIndexedDb(profile: string): Promise<void> {
  const all = await readdir(join(profile, 'Default', 'IndexedDB'), { recursive: true })
  const logs = all.filter((name) => name.endsWith('.log'))
  expect(logs).not.toEqual([])
  for (const name of logs) {
    const path = join(profile, 'Default', 'IndexedDB', name)
    const bytes = await readFile(path)
    bytes.fill(0xff, Math.floor(bytes.length / 3), Math.floor(bytes.length / 3) + 64)
    await writeFile(path, bytes)
  }
}

test('a control that acknowledges before the flush is caught', async ({ site }) => {
  test.setTimeout(120_000)
  const report = await killAgainAndAgain(site, { kills: 3, isDishonest: true })
  expect(report.losses).toBeGreaterThan(0)
})

test('a second tab follows the first with the whole API, and takes over when it closes', async ({ context, site }) => {
  const first = await openTab(context, site)
  await expect.poll(() => roleOf(first)).toBe('leader')
  const second = await openTab(context, site)
  await expect.poll(() => roleOf(second)).toBe('follower')

  await second.evaluate(() => {
    const heard: number[] = []
    Object.assign(globalThis, { heard })
    void globalThis.ledger.subscribe(globalThis.proxied((entry: number) => void heard.push(entry)))
  })
  expect(await add(second, 'from the follower')).toBe(1)
  expect(await add(first, 'from the leader')).toBe(2)
  const heard = () => second.evaluate(() => (globalThis as unknown as { heard: number[] }).heard)
  await expect.poll(heard).toEqual([1, 2])

  await first.close()
  expect(await epochOf(second)).toBe(2)
  expect(await add(second, 'after')).toBe(3)
  expect(await roleOf(second)).toBe('leader')
  await expect.poll(heard).toEqual([1, 2, 3])
  expect(await second.evaluate(() => globalThis.ledger.check())).toBe(3)
})

test('a frozen leader is replaced, and when it wakes up it is refused and follows', async ({ site }) => {
  const profile = await createProfile()
  const chromium = await launchRawChromium(profile.folder)
  try {
    const first = await chromium.openTab('about:blank')
    await first.open(site.url)
    await expect.poll(() => first.evaluate('ledger.role()')).toBe('leader')
    const second = await chromium.openTab('about:blank')
    await second.open(site.url)
    await expect.poll(() => second.evaluate('ledger.role()')).toBe('follower')
    await first.evaluate("ledger.hammerUntilStopped().then((why) => (globalThis.whyStopped = why)), 'started'")
    await expect.poll(() => second.evaluate<number>('ledger.check()')).toBeGreaterThan(3)

    await first.send('Page.enable')
    await first.send('Page.setWebLifecycleState', { state: 'frozen' })
    await expect.poll(() => second.evaluate('ledger.role()')).toBe('leader')
    expect(await second.evaluate('ledger.epoch()')).toBe(2)
    const entry = await second.evaluate<number>("ledger.add('meanwhile')")

    await first.send('Page.setWebLifecycleState', { state: 'active' })
    await expect.poll(() => first.evaluate('globalThis.whyStopped')).toMatch(/Fenced|closed/)
    await expect.poll(() => first.evaluate('ledger.role()')).toBe('follower')
    expect(await first.evaluate("ledger.add('as a follower')")).toBe(entry + 1)
    expect(await second.evaluate('ledger.check()')).toBe(entry + 1)
  } finally {
    await chromium.kill()
    await profile.remove()
  }
})

test('an owner that goes on writing while others take over is fenced every time, and the database stays sound', async ({
  context,
  site,
}) => {
  const page = await openTab(context, site)
  const { endings, acknowledged, found } = await page.evaluate(() => globalThis.ledger.overtake(20))
  expect(endings).toEqual(Array.from({ length: 20 }, () => 'Fenced'))
  expect(found).toBeGreaterThanOrEqual(acknowledged)
})

test('leaders that die one after the other with work in flight: nothing runs twice', async ({ context, site }) => {
  test.setTimeout(120_000)
  const report = await killLeaders(context, site.url, 6)
  expect(report.twice).toEqual([])
  expect(report.missing).toEqual([])
  expect(report.confirmed).toBeGreaterThan(0)
})

test('a full storage stops the work, keeps everything in memory and goes on when there is room', async ({
  context,
  site,
}) => {
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: new URL(site.url).origin, quotaSize: 8 * 2 ** 20 })
  await page.goto(site.url)
  const report = await page.evaluate(() => globalThis.ledger.fillUp())
  expect(report).toMatchObject({ before: 'full', accepted: false, after: 'ok' })
  expect(report.found).toBe(report.entries)
})

test('in Chromium the log goes on in files, which several tabs have open at once', async ({ context, site }) => {
  const page = await openTab(context, site)
  for (let n = 0; n < 3; n++) await add(page, `call ${n}`)
  expect(await page.evaluate(() => globalThis.ledger.logIn())).toBe('files')
  await page.reload()
  expect(await add(page, 'after')).toBe(4)
  expect(await page.evaluate(() => globalThis.ledger.check())).toBe(4)
})

test('a database can be replaced and the replacement undone', async ({ context, site }) => {
  const page = await openTab(context, site)
  expect(await page.evaluate(() => globalThis.ledger.replaceAndUndo())).toEqual([5, 10, 6, -1])
})

test('a backup is written to the chosen folder, which is remembered', async ({ context, site }) => {
  const page = await openTab(context, site)
  expect(await page.evaluate(() => globalThis.ledger.backUp())).toMatchObject({
    outcome: { kind: 'done' },
    status: { kind: 'on', folder: 'backups' },
    entries: 12,
  })
})

test('the sqlite3 command line opens what is exported', async ({ context, site }) => {
  const run = promisify(execFile)
  const isThere = await run('sqlite3', ['--version']).then(
    () => true,
    () => false,
  )
  test.skip(!isThere, 'The sqlite3 command line is not installed (Debian: apt-get install sqlite3).')
  const page = await openTab(context, site)
  for (let n = 0; n < 25; n++) await add(page, `call ${n}`)
  const bytes = await page.evaluate(async () => [...(await globalThis.ledger.image())])
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-export-'))
  try {
    const file = join(folder, 'export.sqlite')
    await writeFile(file, new Uint8Array(bytes))
    const { stdout } = await run('sqlite3', [
      file,
      'PRAGMA integrity_check; SELECT n FROM total; SELECT count(*) FROM calls',
    ])
    expect(stdout.trim().split('\n')).toEqual(['ok', '25', '25'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
