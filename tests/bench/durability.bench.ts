import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '@playwright/test'
import type {} from '../support/durability-site/site.ts'
import { createProfile, launchChromium, type LaunchedChromium } from '../support/launch-chromium.ts'
import { serveSite, type ServedSite } from '../support/serve-site.ts'

const SIZES = [1, 20, 200]

let site: ServedSite
let chromium: LaunchedChromium
let profile: Awaited<ReturnType<typeof createProfile>>
let page: Page

const launch = async () => {
  chromium = await launchChromium(profile.folder)
  page = await chromium.newPage()
  await page.goto(site.url)
}

beforeAll(async () => {
  site = await serveSite('durability-site')
  profile = await createProfile()
  await launch()
}, 120_000)

afterAll(async () => {
  await chromium.kill()
  await site.close()
  await profile.remove()
})

const at = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN
const median = (values: number[] = []): number => at(values, 0.5)
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const ms = (value: number) => `${value.toFixed(2)} ms`
const times = (value: number) => `${value.toFixed(2)} ×`

/** Printed at the end, all figures of one run together. */
const report: string[] = []
const say = (line: string) => report.push(line)
afterAll(() => console.log(`\n${report.join('\n')}\n`))

describe('making one small transaction durable', () => {
  test('costs the same at 1, 20 and 200 MB, and about what a raw put of 4 KiB costs', async () => {
    const measured = await page.evaluate((sizes) => globalThis.startBench().commits({ sizes, rounds: 250 }), SIZES)
    for (const [name, values] of Object.entries(measured)) {
      say(`${name.padEnd(16)} median ${ms(median(values))}, p99 ${ms(at(values, 0.99))}`)
    }
    for (const durability of ['relaxed', 'strict']) {
      const raw = median(measured[`raw ${durability}`])
      const [small, ...larger] = SIZES.map((size) => median(measured[`${durability} ${size}`]))
      for (const [n, size] of SIZES.entries()) {
        const ratio = median(measured[`${durability} ${size}`]) / raw
        say(`flush at ${size} MB ÷ raw put, ${durability}: ${times(ratio)}`)
        expect(ratio, `${durability} at ${size} MB, ${n}`).toBeLessThanOrEqual(2)
      }
      const flatness = Math.max(...larger) / (small ?? NaN)
      say(`largest ÷ 1 MB, ${durability}: ${times(flatness)}`)
      expect(flatness).toBeLessThanOrEqual(1.3)
    }
  }, 600_000)

  test('stays within three raw puts when folding is counted in', async () => {
    for (const megabytes of [1, 20]) {
      const measured = await page.evaluate(
        (megabytes) => globalThis.startBench().folding({ megabytes, rounds: 3000, smallestLogToFold: 2 ** 20 }),
        megabytes,
      )
      const ratio = mean(measured.times.durable) / mean(measured.times.raw)
      say(
        `${megabytes} MB, ${measured.folds} folds in 3000 commits: mean ${ms(mean(measured.times.durable))}, ${times(ratio)} a raw put; ` +
          `p99 ${ms(at(measured.times.durable, 0.99))}, worst ${ms(Math.max(...measured.times.durable))}; ` +
          `${Math.round(measured.bytesPerCommit / 1024)} KiB written per commit`,
      )
      expect(measured.folds).toBeGreaterThan(0)
      expect(ratio).toBeLessThanOrEqual(3)
    }
  }, 600_000)

  test('is many times cheaper than saving the whole database', async () => {
    for (const [megabytes, rounds] of [
      [1, 15],
      [20, 7],
      [200, 3],
    ] as const) {
      const naive = median(
        await page.evaluate((options) => globalThis.startBench().naive(options), { megabytes, rounds }),
      )
      const measured = await page.evaluate(
        (size) => globalThis.startBench().commits({ sizes: [size], rounds: 40 }),
        megabytes,
      )
      const ratio = naive / median(measured[`whole ${megabytes}`])
      say(`export() and put at ${megabytes} MB: ${ms(naive)}, ${times(ratio)} a durable commit`)
      expect(ratio).toBeGreaterThan(megabytes === 1 ? 1 : 10)
    }
  }, 600_000)

  test('many that wait together share their flushes', async () => {
    const alone = await page.evaluate(() => globalThis.startBench().groupCommit({ tasks: 1, commitsEach: 300 }))
    const together = await page.evaluate(() => globalThis.startBench().groupCommit({ tasks: 64, commitsEach: 30 }))
    say(`strict transactions a second: 1 task ${Math.round(alone)}, 64 tasks ${Math.round(together)}`)
    expect(together / alone).toBeGreaterThan(3)
  }, 300_000)
})

describe('opening', () => {
  test('a cold open to the first answer, beside reading the same bytes', async () => {
    for (const megabytes of SIZES) {
      await page.evaluate((megabytes) => globalThis.startBench().prepareCold(megabytes), megabytes)
      await chromium.kill()
      await launch()
      const loadMs = await page.evaluate(() => globalThis.startBench().load())
      const { openMs, rawMs, fileBytes } = await page.evaluate(
        (megabytes) => globalThis.startBench().openCold(megabytes),
        megabytes,
      )
      say(
        `cold open at ${megabytes} MB: ${ms(openMs)} after loading sql.js (${ms(loadMs)}); reading the same bytes raw first: ${ms(rawMs)}`,
      )
      expect(fileBytes).toBeGreaterThan(megabytes * 1_000_000)
    }
  }, 600_000)
})
