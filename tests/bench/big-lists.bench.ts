import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type {} from '#ui/client/engine-client.ts'
import { createStaticServer, listen } from '../../scripts/serve.mjs'
import { buildBigInstallation, type BigInstallation } from '../support/big-installation.ts'
import { createProfile, launchChromium, type LaunchedChromium } from '../support/launch-chromium.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const SIZES = { runs: 100_000, eventsPerRun: 10, longRun: 10_000 }
const TOO_LONG_MS = 100

let folder: string
let server: ReturnType<typeof createStaticServer>
let chromium: LaunchedChromium
let profile: Awaited<ReturnType<typeof createProfile>>
let page: Page
let big: Omit<BigInstallation, 'bytes'>

declare global {
  /** Tasks of the page's own thread that held it up for longer than 50 ms. */
  var longTasks: number[]
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-big-'))
  await cp(DIST, folder, { recursive: true })
  const { bytes, ...rest } = await buildBigInstallation(SIZES)
  big = rest
  await writeFile(join(folder, 'big.sqlite'), bytes)
  server = createStaticServer(folder)
  profile = await createProfile()
  chromium = await launchChromium(profile.folder)
  page = await chromium.newPage()
  await page.addInitScript(() => {
    globalThis.longTasks = []
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration)
    }).observe({ type: 'longtask' })
  })
  await page.goto(await listen(server, 0))
  const imported = await page.evaluate(async () => {
    const file = await (await fetch('big.sqlite')).arrayBuffer()
    return globalThis.holdfast.importDatabase(new Uint8Array(file))
  })
  if (!imported.ok) throw new Error(imported.error.message)
  page.setDefaultTimeout(240_000)
}, 600_000)

afterAll(async () => {
  await chromium.kill()
  server.closeAllConnections()
  server.close()
  await profile.remove()
  await rm(folder, { recursive: true, force: true })
})

const lines: string[] = []
afterAll(() => console.log(`\n${lines.join('\n')}\n`))

const rowsInPage = () => page.locator('[role=row], [role=listitem]').count()

/** What a step cost: how long until it was done, and the longest task on the page's own thread. */
async function measure(name: string, work: () => Promise<void>): Promise<number> {
  await page.evaluate(() => void (globalThis.longTasks = []))
  const startedAt = performance.now()
  await work()
  const took = performance.now() - startedAt
  // The observer tells of a task after it is over.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0))))
  const tasks = await page.evaluate(() => globalThis.longTasks)
  const over = tasks.filter((ms) => ms > TOO_LONG_MS).length
  const longest = Math.max(0, ...tasks)
  lines.push(
    `${name.padEnd(44)} done after ${took.toFixed(0).padStart(5)} ms, longest task ${longest.toFixed(0).padStart(4)} ms, over ${TOO_LONG_MS} ms: ${over}`,
  )
  return longest
}

const go = (address: string) => page.evaluate((hash) => void (location.hash = hash), address)

async function scrollFar(label: string): Promise<void> {
  const box = page.locator(label).last()
  for (let step = 0; step < 30; step += 1) {
    await box.evaluate((element) => void (element.scrollTop = element.scrollHeight))
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
}

test('lists of 100,000 runs and 1,000,000 events open, scroll and filter with a handful of rows in the page', async () => {
  const { workflowId, smallWorkflowId, longRunId } = big
  const runs = page.getByRole('table', { name: 'Runs' })
  const events = page.getByRole('list', { name: 'Events' })

  await measure('engine: opening all of it', async () => {
    const asked = () => page.evaluate(async () => (await globalThis.holdfast.listWorkflows()).ok)
    await expect.poll(asked, { timeout: 240_000 }).toBe(true)
  })
  await measure('dashboard', async () => {
    await go('#/')
    await page.getByRole('region', { name: 'Recent runs' }).waitFor()
  })
  await measure('workflows', async () => {
    await go('#/workflows')
    await page.getByRole('link', { name: 'Big' }).first().waitFor()
  })
  await measure('runs: open', async () => {
    await go(`#/workflows/${workflowId}/runs`)
    await runs.getByRole('link').first().waitFor()
  })
  await measure('runs: scroll through 3,000', () => scrollFar('[role=rowgroup]'))
  expect(await rowsInPage()).toBeLessThan(100)
  await measure('runs: only the failed', async () => {
    await go(`#/workflows/${workflowId}/runs?result=failed`)
    await runs.getByText('Failed').first().waitFor()
  })
  await measure('runs: a text that only one has', async () => {
    await go(`#/workflows/${workflowId}/runs?text=0000000000077777`)
    await expect.poll(() => runs.getByRole('link').count(), { timeout: 60_000 }).toBe(1)
  })
  await measure('runs: of a handler that never ran', async () => {
    await go(`#/workflows/${workflowId}/runs?handler=nobody`)
    await page
      .getByText(/no run/i)
      .first()
      .waitFor()
  })
  await measure('events: open', async () => {
    await go(`#/workflows/${workflowId}/events`)
    await events.getByRole('button').first().waitFor()
  })
  await measure('events: scroll through 3,000', () => scrollFar('[role=list][aria-label=Events]'))
  expect(await rowsInPage()).toBeLessThan(100)
  await measure('events: a text that only one has', async () => {
    await go(`#/workflows/${workflowId}/events?text=Invoice 77777`)
    await events.getByText('Invoice 77777').first().waitFor()
  })
  await measure('events: of a workflow with three old ones', async () => {
    await go(`#/workflows/${smallWorkflowId}/events`)
    await expect.poll(() => events.getByRole('button').count(), { timeout: 60_000 }).toBe(3)
  })
  await measure('graph', async () => {
    await go(`#/workflows/${workflowId}/graph`)
    await page.getByRole('group', { name: /Graph of/ }).waitFor()
  })
  await measure('inbox', async () => {
    await go('#/inbox')
    await page.getByText('Nothing needs you').waitFor()
  })
  await measure('a run of 10,000 handler runs', async () => {
    await go(`#/runs/${longRunId}`)
    await page.getByRole('list', { name: 'Attempts' }).getByRole('button').first().waitFor()
  })
  await measure('its timeline: scroll to the end', () => scrollFar('[role=list][aria-label=Attempts]'))
  expect(await rowsInPage()).toBeLessThan(100)
})
