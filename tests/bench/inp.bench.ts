import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import { furnish, go } from '../../scripts/furnish.mjs'
import { createStaticServer, listen } from '../../scripts/serve.mjs'
import { at, writeResult } from '../support/bench-results.ts'
import { createProfile, launchChromium } from '../support/launch-chromium.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const ROUNDS = Number(process.env['INP_ROUNDS'] ?? 3)
/** As in Lighthouse's lab: a processor four times as slow. */
const SLOWED = 4
const AIM_MS = 100
const AIM_SHIFT = 0.02
/** What the browser itself reports is rounded to 8 ms and nothing below 16 ms is told. */
const NOTICED_MS = 16

declare global {
  /** The longest event of each interaction, and how much has jumped without anybody having touched anything. */
  var interactions: Map<number, number>
  var shifted: number
}

const observe = (): void => {
  globalThis.interactions = new Map()
  globalThis.shifted = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEventTiming & { interactionId: number })[]) {
      const { interactionId, duration } = entry
      if (interactionId === 0) continue
      globalThis.interactions.set(interactionId, Math.max(duration, globalThis.interactions.get(interactionId) ?? 0))
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
      if (!entry.hadRecentInput) globalThis.shifted += entry.value
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

type Made = Awaited<ReturnType<typeof furnish>>

interface Screen {
  address: (made: Made) => string
  /** There when the screen stands. */
  mark: string | RegExp
  interact: (page: Page) => Promise<void>
}

const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key)
}
const search = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('searchbox').first().click()
  await page.keyboard.type(text, { delay: 20 })
}
const link = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name, exact: true }).first()

const SCREENS: Record<string, Screen> = {
  dashboard: {
    address: () => '#/',
    mark: 'Recent runs',
    interact: async (page) => {
      await page.getByRole('button', { name: /Theme:/ }).click()
      await page.getByRole('button', { name: /Theme:/ }).click()
      await page.getByRole('button', { name: /Theme:/ }).click()
    },
  },
  palette: {
    address: () => '#/workflows',
    mark: 'Order desk',
    interact: async (page) => {
      await press(page, 'Control+k')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.type('settings', { delay: 20 })
      await press(page, 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Escape')
      await press(page, '?')
      await page.getByRole('dialog').waitFor()
      await press(page, 'Escape')
    },
  },
  workflows: {
    address: () => '#/workflows',
    mark: 'Order desk',
    interact: (page) => search(page, 'order'),
  },
  'workflow tabs': {
    address: ({ triage }) => `#/workflows/${triage}`,
    mark: 'It watches',
    interact: async (page) => {
      for (const tab of ['Graph', 'Runs', 'Events', 'Settings', 'Overview']) await link(page, tab).click()
    },
  },
  runs: {
    address: ({ triage }) => `#/workflows/${triage}/runs`,
    mark: 'Completed',
    interact: (page) => search(page, 'run'),
  },
  events: {
    address: ({ triage }) => `#/workflows/${triage}/events`,
    mark: 'Consumed',
    interact: async (page) => {
      const rows = page.getByRole('list', { name: 'Events' }).getByRole('button')
      await rows.first().click()
      await rows.nth(1).click()
      await search(page, 'mail')
    },
  },
  run: {
    address: ({ run }) => `#/runs/${run}`,
    mark: 'Timeline',
    interact: async (page) => {
      const attempts = page.getByRole('list', { name: 'Attempts' }).getByRole('button')
      for (let n = 0; n < Math.min(4, await attempts.count()); n += 1) await attempts.nth(n).click()
    },
  },
  inbox: {
    address: () => '#/inbox',
    mark: 'Exactly this was sent',
    interact: (page) => press(page, 'Tab', 'Tab', 'Tab', 'Tab'),
  },
  session: {
    address: ({ done }) => `#/sessions/${done}`,
    mark: 'The session is complete',
    interact: async (page) => {
      const agents = page.getByRole('group', { name: /Graph|agents/i }).getByRole('link')
      for (let n = 0; n < Math.min(3, await agents.count()); n += 1) await agents.nth(n).click()
      await press(page, 'Tab', 'Tab')
    },
  },
  sql: {
    address: () => '#/sql',
    mark: 'SQL',
    interact: async (page) => {
      await page.getByRole('textbox').first().click()
      await page.keyboard.type('SELECT id FROM runs', { delay: 20 })
    },
  },
  gallery: {
    address: () => '#/gallery',
    mark: 'Inbox triage',
    interact: (page) => search(page, 'inbox'),
  },
  settings: {
    address: () => '#/settings',
    mark: 'Storage',
    interact: async (page) => {
      for (const section of ['Backup', 'Appearance', 'Engine', 'About', 'Storage']) await link(page, section).click()
    },
  },
}

/** Everything that an interaction has set off is painted, and has been told of. */
const settle = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => setTimeout(resolve, 50), 0))),
  )

test('INP: every screen answers a touch within a tenth of a second on a slow processor, and nothing jumps', async () => {
  const server = createStaticServer(DIST)
  const url = await listen(server, 0)
  const profile = await createProfile()
  const chromium = await launchChromium(profile.folder)
  const longest = new Map<string, number[]>()
  const shifts = new Map<string, number[]>()
  let touches = 0
  try {
    const page = await chromium.newPage()
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(url)
    const made = await furnish(page)
    await page.addInitScript(observe)
    const session = await page.context().newCDPSession(page)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, { address, mark, interact }] of Object.entries(SCREENS)) {
        await go(page, address(made))
        await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED })
        await page.reload()
        await page.locator('#main').getByText(mark).filter({ visible: true }).first().waitFor()
        await settle(page)
        const shifted = await page.evaluate(() => globalThis.shifted)
        await interact(page)
        await settle(page)
        const durations = await page.evaluate(() => [...globalThis.interactions.values()])
        await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
        touches += durations.length
        longest.set(name, [...(longest.get(name) ?? []), Math.max(NOTICED_MS, at(durations, 0.98) || 0)])
        shifts.set(name, [...(shifts.get(name) ?? []), shifted])
      }
    }
  } finally {
    await chromium.kill()
    server.closeAllConnections()
    server.close()
    await profile.remove()
  }
  const worstOf = (values: Map<string, number[]>) => Math.max(...[...values.values()].map((all) => Math.min(...all)))
  const series = (values: Map<string, number[]>) => [...values].map(([name, all]) => ({ name, values: all }))
  await writeResult('inp', {
    workload: 'U2',
    title: 'Interaction to next paint, and what jumps',
    tables: [
      {
        title: `98th percentile of the interactions of a screen, processor ${SLOWED} × as slow`,
        unit: 'ms',
        better: 'lower',
        reference: 'dashboard',
        series: series(longest),
      },
    ],
    checks: [
      { promise: 'INP of the worst screen, in ms', measured: worstOf(longest), atMost: AIM_MS },
      { promise: 'Layout shift of the worst screen', measured: worstOf(shifts), atMost: AIM_SHIFT },
    ],
    notes: [
      `Real clicks and keys in Chromium on a lived-in installation: ${touches} interactions that the browser noticed. As the browser itself reports them: rounded to 8 ms, and what is below ${NOTICED_MS} ms counts as ${NOTICED_MS}. Each screen is loaded anew; the promise is held against the best of ${ROUNDS} rounds, since other work on the machine only ever adds to it.`,
    ],
  })
  expect(touches).toBeGreaterThan(30)
}, 900_000)
