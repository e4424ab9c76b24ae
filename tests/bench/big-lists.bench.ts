import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import type {} from '#ui/client/engine-client.ts'
import { createStaticServer, listen } from '../../scripts/serve.mjs'
import { median, writeResult } from '../support/bench-results.ts'
import { buildBigInstallation, type BigInstallation, type BigSizes } from '../support/big-installation.ts'
import { createProfile, launchChromium, type LaunchedChromium } from '../support/launch-chromium.ts'
import { longestTask } from '../support/longest-task.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const RUNS = Number(process.env['BIG_RUNS'] ?? 100_000)
const SMALL: BigSizes = { runs: 100, eventsPerRun: 10, longRun: 100 }
const BIG: BigSizes = { runs: RUNS, eventsPerRun: 10, longRun: RUNS / 10 }
const ROUNDS = 3
const TOO_LONG_MS = 100
const PATIENCE_MS = 240_000

interface App {
  chromium: LaunchedChromium
  page: Page
  installation: Omit<BigInstallation, 'bytes'>
  /** The number of a run and an event somewhere in the past. */
  one: number
  close: () => Promise<void>
}

/** The built application in a browser of its own, with a file of that size imported. */
async function openApp(sizes: BigSizes): Promise<App> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-big-'))
  await cp(DIST, folder, { recursive: true })
  const { bytes, ...installation } = await buildBigInstallation(sizes)
  await writeFile(join(folder, 'big.sqlite'), bytes)
  const server = createStaticServer(folder)
  const profile = await createProfile()
  const chromium = await launchChromium(profile.folder)
  const page = await chromium.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  await page.goto(await listen(server, 0))
  const imported = await page.evaluate(async () => {
    const file = await (await fetch('big.sqlite')).arrayBuffer()
    return globalThis.holdfast.importDatabase(new Uint8Array(file))
  })
  if (!imported.ok) throw new Error(imported.error.message)
  const asked = () => page.evaluate(async () => (await globalThis.holdfast.listWorkflows()).ok)
  await expect.poll(asked, { timeout: PATIENCE_MS }).toBe(true)
  return {
    chromium,
    page,
    installation,
    one: Math.floor(sizes.runs * 0.77),
    close: async () => {
      await chromium.kill()
      server.closeAllConnections()
      server.close()
      await profile.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const go = (page: Page, address: string) => page.evaluate((hash) => void (location.hash = hash), address)

async function scrollFar(page: Page, label: string): Promise<void> {
  const box = page.locator(label).last()
  for (let step = 0; step < 30; step += 1) {
    await box.evaluate((element) => void (element.scrollTop = element.scrollHeight))
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  expect(await page.locator('[role=row], [role=listitem]').count()).toBeLessThan(100)
}

/** Everything a person does to long lists; each from where the one before has left the page. */
const ACTIONS: Record<string, (app: App) => Promise<void>> = {
  dashboard: async ({ page }) => {
    await go(page, '#/')
    await page.getByRole('region', { name: 'Recent runs' }).waitFor()
  },
  workflows: async ({ page }) => {
    await go(page, '#/workflows')
    await page.getByRole('link', { name: 'Big' }).first().waitFor()
  },
  'runs: open': async ({ page, installation }) => {
    await go(page, `#/workflows/${installation.workflowId}/runs`)
    await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().waitFor()
  },
  'runs: scroll': ({ page }) => scrollFar(page, '[role=rowgroup]'),
  'runs: only the failed': async ({ page, installation }) => {
    await go(page, `#/workflows/${installation.workflowId}/runs?result=failed`)
    await page.getByRole('table', { name: 'Runs' }).getByText('Failed').first().waitFor()
  },
  'runs: a text that one has': async ({ page, installation, one }) => {
    await go(page, `#/workflows/${installation.workflowId}/runs?text=${String(one).padStart(16, '0')}`)
    const links = page.getByRole('table', { name: 'Runs' }).getByRole('link')
    await expect.poll(() => links.count(), { timeout: PATIENCE_MS }).toBe(1)
  },
  'runs: of a handler that never ran': async ({ page, installation }) => {
    await go(page, `#/workflows/${installation.workflowId}/runs?handler=nobody`)
    await page.getByText('No run matches').waitFor()
  },
  'events: open': async ({ page, installation }) => {
    await go(page, `#/workflows/${installation.workflowId}/events`)
    await page.getByRole('list', { name: 'Events' }).getByRole('button').first().waitFor()
  },
  'events: scroll': ({ page }) => scrollFar(page, '[role=list][aria-label=Events]'),
  'events: a text that one has': async ({ page, installation, one }) => {
    await go(page, `#/workflows/${installation.workflowId}/events?text=Invoice ${one}`)
    await page.getByRole('list', { name: 'Events' }).getByText(`Invoice ${one}`).first().waitFor()
  },
  'events: of a workflow with three': async ({ page, installation }) => {
    await go(page, `#/workflows/${installation.smallWorkflowId}/events`)
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('button')
    await expect.poll(() => rows.count(), { timeout: PATIENCE_MS }).toBe(3)
  },
  graph: async ({ page, installation }) => {
    await go(page, `#/workflows/${installation.workflowId}/graph`)
    await page.getByRole('group', { name: /Graph of/ }).waitFor()
  },
  inbox: async ({ page }) => {
    await go(page, '#/inbox')
    await page.getByText('Nothing needs you').waitFor()
  },
  'a long run: open': async ({ page, installation }) => {
    await go(page, `#/runs/${installation.longRunId}`)
    await page.getByRole('list', { name: 'Attempts' }).getByRole('button').first().waitFor()
  },
  'a long run: scroll': ({ page }) => scrollFar(page, '[role=list][aria-label=Attempts]'),
}

/** A search through all events by hand, and the longest that another question had to wait meanwhile. */
const searchAll = ({ page, installation }: App) =>
  page.evaluate(async (workflowId) => {
    const { holdfast } = globalThis
    const startedAt = performance.now()
    const search = { isDone: false, longestWait: 0 }
    const asking = (async () => {
      while (!search.isDone) {
        const askedAt = performance.now()
        await holdfast.engineInfo()
        search.longestWait = Math.max(search.longestWait, performance.now() - askedAt)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    for (let before: string | undefined; ;) {
      const answer = await holdfast.listEvents({
        workflowId,
        text: 'nothing is called so',
        ...(before !== undefined && { before }),
      })
      if (!answer.ok || answer.value.lookedTo === undefined) break
      before = answer.value.lookedTo
    }
    search.isDone = true
    const tookMs = performance.now() - startedAt
    await asking
    return { tookMs, longestWait: search.longestWait }
  }, installation.workflowId)

test('W5: lists of 100,000 runs and 1,000,000 events open, scroll and filter as those of a hundred do', async () => {
  const small = await openApp(SMALL)
  const big = await openApp(BIG)
  try {
    await measureLists(small, big)
  } finally {
    await small.close()
    await big.close()
  }
}, 900_000)

const SAME_WITH_FEW = 'raw: the worst of all at 100 runs'

type Longest = Map<string, { small: number[]; big: number[] }>

const worstOfRound = (longest: Longest, size: 'small' | 'big'): number[] =>
  Array.from({ length: ROUNDS }, (_, round) =>
    Math.max(...[...longest.values()].map((found) => found[size][round] ?? 0)),
  )

async function measureLists(small: App, big: App): Promise<void> {
  const longest: Longest = new Map()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, act] of Object.entries(ACTIONS)) {
      const found = longest.get(name) ?? { small: [], big: [] }
      longest.set(name, found)
      for (const [size, app] of [['small', small] as const, ['big', big] as const]) {
        found[size].push(await longestTask(app.chromium.browser, app.page, () => act(app)))
      }
    }
  }
  const searches = []
  for (let round = 0; round < ROUNDS; round += 1) searches.push(await searchAll(big))
  const waits = searches.map(({ longestWait }) => longestWait)
  const whole = searches.map(({ tookMs }) => tookMs)
  const runs = RUNS.toLocaleString('en')
  const worst = median(worstOfRound(longest, 'big')) / median(worstOfRound(longest, 'small'))
  const tooLong = [...longest.values()].filter((found) => median(found.big) > TOO_LONG_MS).length
  await writeResult('big-lists', {
    workload: 'W5',
    title: `The lists at ${runs} runs and ${(RUNS * 10).toLocaleString('en')} events`,
    tables: [
      {
        title: `Longest task of the page’s thread at ${runs} runs`,
        unit: 'ms',
        better: 'lower',
        reference: SAME_WITH_FEW,
        series: [
          { name: SAME_WITH_FEW, values: worstOfRound(longest, 'small') },
          ...[...longest].map(([name, found]) => ({ name, values: found.big })),
        ],
      },
      {
        title: 'A search through all events',
        unit: 'ms',
        better: 'lower',
        reference: 'the whole search',
        series: [
          { name: 'the whole search', values: whole },
          { name: 'longest that another question waited meanwhile', values: waits },
        ],
      },
    ],
    checks: [
      { promise: `Of ${longest.size} actions, those with a task over ${TOO_LONG_MS} ms`, measured: tooLong, atMost: 0 },
      { promise: `Longest task at ${runs} runs ÷ longest at 100`, measured: worst },
      { promise: 'Longest wait during a search ÷ the search', measured: median(waits) / median(whole), atMost: 0.25 },
    ],
    notes: [
      'A task is counted in processor time of the page’s own thread, so that what else the machine does is not in it. The built application, with a file imported; the run that is opened has a tenth as many handler runs as there are runs.',
    ],
  })
  expect(tooLong).toBe(0)
}
