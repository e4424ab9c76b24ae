import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from '@playwright/test'
import { findChromium, isRoot } from './chromium.mjs'
import { furnish, go } from './furnish.mjs'
import { createStaticServer, listen } from './serve.mjs'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))
const TARGET = fileURLToPath(new URL('../docs/screenshots', import.meta.url))
const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 360, height: 740 }
const QUALITY = 82

/** @typedef {import('@playwright/test').Page} Page */

/** @param {Page} page @param {string} name */
async function shoot(page, name) {
  const dismiss = page.getByRole('button', { name: 'Dismiss' })
  while ((await dismiss.count()) > 0) await dismiss.first().click()
  await page.locator('[aria-label="Loading"]').waitFor({ state: 'detached' })
  await page.getByText('Checking…').waitFor({ state: 'detached' })
  // The line under the heading is for who came by keys.
  await page.evaluate("if (document.activeElement?.matches('h1')) document.activeElement.blur()")
  // What an editor measures in one frame it puts right in the next.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await page.waitForFunction('document.getAnimations().every((one) => !(one instanceof CSSTransition))')
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  await session.detach()
  await writeFile(join(TARGET, `${name}.webp`), Buffer.from(data, 'base64'))
}

/** @param {Page} page @param {string} name @param {boolean} [isNarrowToo] */
async function shootAll(page, name, isNarrowToo = false) {
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    await page.emulateMedia({ colorScheme })
    await shoot(page, `${name}-${colorScheme}`)
  }
  if (!isNarrowToo) return
  await page.setViewportSize(NARROW)
  await page.emulateMedia({ colorScheme: 'light' })
  await shoot(page, `${name}-narrow`)
  await page.setViewportSize(WIDE)
}

/** @param {Awaited<ReturnType<typeof furnish>>} made @returns {[name: string, address: string, mark: string, isNarrowToo?: boolean][]} */
const screens = ({ triage, done, underWay, run }) => [
  ['session-under-way', `#/sessions/${underWay}`, 'Shared context'],
  ['dashboard', '#/', 'Recent runs', true],
  ['workflows', '#/workflows', 'Order desk', true],
  ['workflow', `#/workflows/${triage}`, 'It watches'],
  ['graph', `#/workflows/${triage}/graph`, 'readInbox'],
  ['runs', `#/workflows/${triage}/runs`, 'Completed'],
  ['events', `#/workflows/${triage}/events`, 'Consumed'],
  ['script', `#/workflows/${triage}/script`, 'No problems'],
  ['workflow-settings', `#/workflows/${triage}/settings`, 'Budget'],
  ['run', `#/runs/${run}`, 'Timeline', true],
  ['inbox', '#/inbox', 'Exactly this was sent', true],
  ['sessions', '#/sessions', 'Find the customers'],
  ['session', `#/sessions/${done}`, 'The session is complete', true],
  ['new-session', '#/sessions/new?template=sales-report', 'Ready to start.'],
  ['gallery', '#/gallery', 'Inbox triage'],
  ['sql', '#/sql', 'SQL'],
  ['settings', '#/settings', 'Storage'],
  ['backup', '#/settings/backup', 'Restore'],
]

/** @param {Page} page @param {string} url */
async function shootFurnished(page, url) {
  await page.goto(url)
  const made = await furnish(page)
  for (const [name, address, mark, isNarrowToo] of screens(made)) {
    await go(page, address)
    await page.locator('#main').getByText(mark).filter({ visible: true }).first().waitFor()
    await shootAll(page, name, isNarrowToo)
  }
  await go(page, '#/workflows')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  await shootAll(page, 'palette')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await shootAll(page, 'shortcuts')
}

/** @param {Page} page @param {string} url */
async function shootFirstMinute(page, url) {
  await page.goto(url)
  await page.getByRole('article').first().waitFor()
  await shootAll(page, 'welcome', true)
  await page.getByRole('button', { name: 'Start with a live demo' }).click()
  await page
    .getByRole('link', { name: /writeRow/ })
    .filter({ hasText: 'Running' })
    .waitFor()
  await shoot(page, 'demo-light')
  await page.getByRole('button', { name: 'Kill this tab' }).click()
  await page.getByText('See its attempts').first().waitFor()
  await shootAll(page, 'recovery', true)
}

const executablePath = await findChromium()
if (executablePath === null) throw new Error('No Chromium found: run `npm test`, or set CHROMIUM_PATH to one.')
const args = [...(isRoot ? ['--no-sandbox'] : []), '--disable-gpu', '--no-first-run', '--disable-background-networking']
const server = createStaticServer(DIST)
const url = await listen(server, 0)
const browser = await chromium.launch({ executablePath, args })
try {
  await mkdir(TARGET, { recursive: true })
  for (const old of await readdir(TARGET)) if (old.endsWith('.webp')) await rm(join(TARGET, old))
  for (const journey of [shootFirstMinute, shootFurnished]) {
    // Each begins in a browser that has never been here.
    const context = await browser.newContext({ viewport: WIDE, serviceWorkers: 'block', reducedMotion: 'reduce' })
    await journey(await context.newPage(), url)
    await context.close()
  }
} finally {
  await browser.close()
  server.closeAllConnections()
  server.close()
}
