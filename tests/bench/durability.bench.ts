import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '@playwright/test'
import { writeResult, type Check, type ResultTable } from '../support/bench-results.ts'
import type {} from '../support/durability-site/site.ts'
import { createProfile, launchChromium, type LaunchedChromium } from '../support/launch-chromium.ts'
import { serveSite, type ServedSite } from '../support/serve-site.ts'

const SIZES = [1, 20, 200]
/** A new browser for each. */
const COLD_ROUNDS = 3

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
  site = await serveSite('durability-site', { isIsolated: true })
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

/** Written at the end, all figures of one run together. */
const tables: ResultTable[] = []
const checks: Check[] = []
const notes: string[] = []
const say = (line: string) => notes.push(line)
/** Written down whether it holds or not, and then demanded. */
const demand = (check: Check): void => {
  checks.push(check)
  const { promise, measured, atMost = Infinity, atLeast = -Infinity } = check
  expect(measured, promise).toBeLessThanOrEqual(atMost)
  expect(measured, promise).toBeGreaterThanOrEqual(atLeast)
}
/** A few hundred of thousands of rounds say the same: evenly over all ranks, so that every share stays where it is. */
const VALUES_KEPT = 200
const thinned = (values: number[]): number[] =>
  values.length <= VALUES_KEPT
    ? values
    : Array.from({ length: VALUES_KEPT }, (_, n) => at(values, (n + 0.5) / VALUES_KEPT))
const table = (title: string, reference: string, series: Record<string, number[]>): void => {
  const named = Object.entries(series).map(([name, values]) => ({ name, values: thinned(values) }))
  tables.push({ title, unit: 'ms', better: 'lower', series: named, reference })
}
afterAll(() =>
  writeResult('durability', {
    workload: 'D1',
    title: 'Making transactions durable, and opening what is stored',
    tables,
    checks,
    notes,
  }),
)

describe('making one small transaction durable', () => {
  test('costs the same at 1, 20 and 200 MB, and about what a raw put of 4 KiB costs', async () => {
    const measured = await page.evaluate((sizes) => globalThis.startBench().commits({ sizes, rounds: 250 }), SIZES)
    for (const durability of ['relaxed', 'strict']) {
      const raw = `raw ${durability}`
      const ofSize = (size: number) => measured[`${durability} ${size}`] ?? []
      const series = { 'raw put of 4 KiB': measured[raw] ?? [] }
      table(
        `One small transaction, ${durability}`,
        'raw put of 4 KiB',
        Object.assign(series, Object.fromEntries(SIZES.map((size) => [`flush at ${size} MB`, ofSize(size)]))),
      )
      for (const [name, values] of Object.entries(series)) say(`${durability}, ${name}: p99 ${ms(at(values, 0.99))}`)
      for (const size of SIZES) {
        const measuredRatio = median(ofSize(size)) / median(measured[raw])
        demand({ promise: `flush at ${size} MB ÷ raw put, ${durability}`, measured: measuredRatio, atMost: 2 })
      }
      const [small = NaN, ...larger] = SIZES.map((size) => median(ofSize(size)))
      demand({ promise: `largest ÷ 1 MB, ${durability}`, measured: Math.max(...larger) / small, atMost: 1.3 })
    }
  }, 600_000)

  test('stays within three raw puts when folding is counted in', async () => {
    for (const megabytes of [1, 20]) {
      const measured = await page.evaluate(
        (megabytes) => globalThis.startBench().folding({ megabytes, rounds: 3000, smallestLogToFold: 2 ** 20 }),
        megabytes,
      )
      const { durable, raw } = measured.times
      table(`3000 commits with folding, ${megabytes} MB`, 'raw put of 4 KiB', {
        'raw put of 4 KiB': raw,
        'durable commit': durable,
      })
      say(
        `${megabytes} MB, ${measured.folds} folds in 3000 commits: mean ${ms(mean(durable))}, p99 ${ms(at(durable, 0.99))}, ` +
          `worst ${ms(Math.max(...durable))}; ${Math.round(measured.bytesPerCommit / 1024)} KiB written per commit`,
      )
      expect(measured.folds).toBeGreaterThan(0)
      const measuredRatio = mean(durable) / mean(raw)
      demand({ promise: `mean with folding ÷ raw put, ${megabytes} MB`, measured: measuredRatio, atMost: 3 })
    }
  }, 600_000)

  test('is many times cheaper than saving the whole database', async () => {
    for (const [megabytes, rounds] of [
      [1, 15],
      [20, 7],
      [200, 3],
    ] as const) {
      const naive = await page.evaluate((options) => globalThis.startBench().naive(options), { megabytes, rounds })
      const measured = await page.evaluate(
        (size) => globalThis.startBench().commits({ sizes: [size], rounds: 40 }),
        megabytes,
      )
      const whole = measured[`whole ${megabytes}`] ?? []
      table(`Saving the whole database each time, ${megabytes} MB`, 'durable commit', {
        'durable commit': whole,
        'export() and put': naive,
      })
      const measuredRatio = median(naive) / median(whole)
      const promise = `export() and put ÷ durable commit, ${megabytes} MB`
      demand({ promise, measured: measuredRatio, atLeast: megabytes === 1 ? 1 : 10 })
    }
  }, 600_000)

  test('many that wait together share their flushes', async () => {
    const alone = await page.evaluate(() => globalThis.startBench().groupCommit({ tasks: 1, commitsEach: 300 }))
    const together = await page.evaluate(() => globalThis.startBench().groupCommit({ tasks: 64, commitsEach: 30 }))
    say(`strict transactions a second: 1 task ${Math.round(alone)}, 64 tasks ${Math.round(together)}`)
    demand({ promise: 'strict transactions a second, 64 tasks ÷ 1 task', measured: together / alone, atLeast: 3 })
  }, 300_000)
})

describe('opening', () => {
  test('a cold open to the first answer, beside reading the same bytes', async () => {
    for (const megabytes of SIZES) {
      await page.evaluate((megabytes) => globalThis.startBench().prepareCold(megabytes), megabytes)
      const times = { raw: [] as number[], open: [] as number[], load: [] as number[] }
      for (let round = 0; round < COLD_ROUNDS; round += 1) {
        await chromium.kill()
        await launch()
        times.load.push(await page.evaluate(() => globalThis.startBench().load()))
        const { openMs, rawMs, fileBytes } = await page.evaluate(
          (megabytes) => globalThis.startBench().openCold(megabytes),
          megabytes,
        )
        times.raw.push(rawMs)
        times.open.push(openMs)
        expect(fileBytes).toBeGreaterThan(megabytes * 1_000_000)
      }
      table(`Cold open to the first answer, ${megabytes} MB`, 'reading the same bytes raw', {
        'reading the same bytes raw': times.raw,
        'open and first answer': times.open,
        'loading sql.js before it': times.load,
      })
    }
  }, 600_000)
})
