import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { build, preview } from 'vite'
import { expect, test } from 'vitest'
import { findStores, installStores } from '../../../scripts/bench-stores.mjs'
import { median, writeResult, type ResultTable } from '../../support/bench-results.ts'
import { createProfile, launchChromium } from '../../support/launch-chromium.ts'

type Durability = 'relaxed' | 'strict'
type AskStore = (store: string, method: string, ...args: unknown[]) => Promise<unknown>

declare global {
  var askStore: AskStore
  var endStore: (store: string) => void
}

const OURS = 'Holdfast'
const OURS_WITHOUT_FILES = 'Holdfast, log in IndexedDB'
const STORES: Record<Durability, string[]> = {
  relaxed: [
    OURS,
    OURS_WITHOUT_FILES,
    'absurd-sql on IndexedDB',
    'wa-sqlite, IDBBatchAtomicVFS',
    'wa-sqlite, AccessHandlePoolVFS on opfs',
    'official build, opfs-sahpool',
    'official build, opfs-sahpool, WAL',
    'PGlite on IndexedDB',
  ],
  strict: [
    OURS,
    OURS_WITHOUT_FILES,
    'wa-sqlite, IDBBatchAtomicVFS',
    'wa-sqlite, AccessHandlePoolVFS on opfs',
    'official build, opfs-sahpool',
    'official build, opfs-sahpool, WAL',
    'PGlite on OPFS',
  ],
}
const ROUNDS = Number(process.env['STORE_ROUNDS'] ?? 3)
const COMMITS = Number(process.env['STORE_COMMITS'] ?? 40)
const SIZES = (process.env['STORE_SIZES'] ?? '1,20,200').split(',').map(Number)

/** The page with all stores, with the headers that shared memory asks for. */
async function serveStores(): Promise<{ url: string; close: () => Promise<void> }> {
  const outDir = await mkdtemp(join(tmpdir(), 'holdfast-stores-'))
  const root = fileURLToPath(new URL('stores', import.meta.url))
  const plugins = () => [findStores()]
  const worker = { format: 'es' as const, plugins }
  const shared = {
    root,
    configFile: false as const,
    base: './',
    logLevel: 'error' as const,
    plugins: plugins(),
    worker,
  }
  await build({ ...shared, build: { outDir, emptyOutDir: true, target: 'es2023' } })
  const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
  const server = await preview({ ...shared, build: { outDir }, preview: { host: '127.0.0.1', port: 4790, headers } })
  const url = server.resolvedUrls?.local[0]
  if (url === undefined) throw new Error('The page with the stores has no address.')
  return {
    url,
    close: async () => {
      await server.close()
      await rm(outDir, { recursive: true, force: true })
    },
  }
}

const LONGEST_MS = 120_000

const ask = (page: Page, store: string, method: string, ...args: unknown[]): Promise<unknown> =>
  page.evaluate(
    ([name, asked, given, longest]) =>
      Promise.race([
        globalThis.askStore(name, asked, ...given),
        new Promise((_, reject) => setTimeout(() => reject(new Error(`${asked} took too long`)), longest)),
      ]),
    [store, method, args, LONGEST_MS] as const,
  )

/** Those that open. What does not is left out, with a line. */
async function openAll(page: Page, stores: string[], durability: Durability, megabytes: number): Promise<string[]> {
  const opened: string[] = []
  for (const store of stores) {
    try {
      await ask(page, store, 'open', nameOf(store, durability, megabytes), durability)
      await ask(page, store, 'fill', megabytes)
      opened.push(store)
    } catch (cause) {
      console.log(`left out: ${store}, ${durability}: ${String(cause).slice(0, 300)}`)
    }
  }
  return opened
}

const nameOf = (store: string, durability: string, megabytes: number): string =>
  `${store}-${durability}-${megabytes}`.replaceAll(/[^A-Za-z0-9-]+/g, '-')

const endAll = (page: Page, stores: string[]): Promise<void> =>
  page.evaluate((all) => all.forEach((store) => globalThis.endStore(store)), stores)

/** Commits in turn, one of each store after the other, so that all meet the same noise. */
async function timeCommits(page: Page, durability: Durability, megabytes: number): Promise<Map<string, number[]>> {
  const stores = await openAll(page, STORES[durability], durability, megabytes)
  const times = new Map(stores.map((store) => [store, [] as number[]]))
  const total = ROUNDS * COMMITS
  for (let n = 0; n < total + 5; n += 1) {
    for (const store of stores) {
      const ms = (await ask(page, store, 'timeCommit', n)) as number
      if (n >= 5) times.get(store)?.push(ms)
    }
  }
  for (const store of stores) await ask(page, store, 'close')
  await endAll(page, stores)
  return times
}

/** What was left behind by a worker that is gone, opened by a new one whose code is loaded already. */
async function timeColdOpens(page: Page, megabytes: number): Promise<Map<string, number[]>> {
  const wanted = [...new Set([...STORES.relaxed, ...STORES.strict])]
  const stores = await openAll(page, wanted, 'strict', megabytes)
  const times = new Map(stores.map((store) => [store, [] as number[]]))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const store of stores) {
      await ask(page, store, 'close')
      await endAll(page, [store])
      await ask(page, store, 'load')
      const ms = (await ask(page, store, 'timeOpen', nameOf(store, 'strict', megabytes), 'strict')) as number
      if (round > 0) times.get(store)?.push(ms)
    }
  }
  for (const store of stores) await ask(page, store, 'close')
  await endAll(page, stores)
  return times
}

const tableOf = (title: string, times: Map<string, number[]>): ResultTable => ({
  title,
  unit: 'ms',
  better: 'lower',
  reference: OURS,
  series: [...times].map(([name, values]) => ({ name, values })),
})

const ours = (times: Map<string, number[]>): number => median(times.get(OURS) ?? [])

/** So many times as long the others take, at their best. */
const bestOther = (times: Map<string, number[]>): number =>
  Math.min(...[...times].filter(([name]) => !name.startsWith(OURS)).map(([, values]) => median(values)))

test('W6: one small transaction and a cold open, beside other databases in the browser', async () => {
  const packages = await installStores()
  if (packages === null) return
  const site = await serveStores()
  const profile = await createProfile()
  const chromium = await launchChromium(profile.folder)
  try {
    const page = await chromium.newPage()
    await page.goto(site.url)
    const atEachSize = []
    for (const megabytes of SIZES) {
      const relaxed = await timeCommits(page, 'relaxed', megabytes)
      const strict = await timeCommits(page, 'strict', megabytes)
      atEachSize.push({ megabytes, relaxed, strict, opens: await timeColdOpens(page, megabytes) })
    }
    await writeResult('stores', {
      workload: 'W6',
      title: 'Durability, beside other databases in the browser',
      tables: [
        ...atEachSize.map(({ megabytes, relaxed }) =>
          tableOf(`One small transaction, ${megabytes} MB, handed to the browser (relaxed)`, relaxed),
        ),
        ...atEachSize.map(({ megabytes, strict }) =>
          tableOf(`One small transaction, ${megabytes} MB, on the disk (strict)`, strict),
        ),
        ...atEachSize.map(({ megabytes, opens }) => tableOf(`Cold open to the first answer, ${megabytes} MB`, opens)),
      ],
      checks: atEachSize.flatMap(({ megabytes, relaxed, strict }) => [
        { promise: `Relaxed, ${megabytes} MB: the best other ÷ ours`, measured: bestOther(relaxed) / ours(relaxed) },
        { promise: `Strict, ${megabytes} MB: the best other ÷ ours`, measured: bestOther(strict) / ours(strict) },
      ]),
      notes: NOTES.concat(`Versions: ${packages.join(', ')}.`),
    })
    for (const { relaxed, strict } of atEachSize) {
      expect(relaxed.size).toBeGreaterThan(1)
      expect(strict.size).toBeGreaterThan(1)
    }
  } finally {
    await chromium.kill()
    await site.close()
    await profile.remove()
  }
}, 1_800_000)

const NOTES = [
  'Each commits one insert and one update in a worker of its own, in turn with the others; ours answers when the frame is in its file (strict: on the disk), and with the log in IndexedDB when the transaction has ended there. In a browser that cannot share files, and in the first two minutes of an installation, the log is in IndexedDB.',
  'Relaxed means what each calls so, or its nearest: ours has handed the frame to the system, with the log in IndexedDB it waits until that has the pages, as absurd-sql does; wa-sqlite on IndexedDB with `relaxed` does not wait for it; on OPFS it is `synchronous = OFF`, which never asks for the disk at all; PGlite on IndexedDB writes its changed files back after each statement.',
  'Strict is `durability: strict` in IndexedDB, and a flush of the file in OPFS. absurd-sql and PGlite on IndexedDB have no such setting.',
  'A store on OPFS belongs to one worker and reads a page when it needs it, so that opening costs the same at any size. Ours reads the whole file into memory once, and answers every query from there.',
]
