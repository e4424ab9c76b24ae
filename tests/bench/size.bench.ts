import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createStaticServer, listen } from '../../scripts/serve.mjs'
import { median, writeResult, type Series } from '../support/bench-results.ts'
import { createProfile, launchChromium } from '../support/launch-chromium.ts'

/** As it is shipped: built before the measurements, and not under the settings of a test. */
const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const ROUNDS = 3

interface Chunk {
  file: string
  imports?: string[]
  dynamicImports?: string[]
}

type Manifest = Record<string, Chunk>

const closureOf = (manifest: Manifest, key: string, found = new Set<string>()): Set<string> => {
  if (found.has(key)) return found
  found.add(key)
  for (const imported of manifest[key]?.imports ?? []) closureOf(manifest, imported, found)
  return found
}

const gzippedKb = async (file: string): Promise<number> => gzipSync(await readFile(file)).length / 1000

/** What a visitor loads at first, and what each screen adds to it. */
const sizesOf = async (folder: string): Promise<Series[]> => {
  const manifest = JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8')) as Manifest
  const total = async (keys: Iterable<string>): Promise<number> => {
    let kb = 0
    for (const key of keys) {
      const file = manifest[key]?.file ?? ''
      if (file.endsWith('.js')) kb += await gzippedKb(join(folder, file))
    }
    return kb
  }
  const entry = closureOf(manifest, 'index.html')
  const series: Series[] = [{ name: 'entry', values: [await total(entry)] }]
  for (const [key, { dynamicImports = [] }] of Object.entries(manifest)) {
    if (!entry.has(key)) continue
    for (const screen of dynamicImports.filter((name) => name.includes('features/'))) {
      const own = [...closureOf(manifest, screen)].filter((part) => !entry.has(part))
      series.push({ name: screen.replace(/^.*\/(?=[^/]+$)/, '').replace(/\.svelte$/, ''), values: [await total(own)] })
    }
  }
  const assets = await readdir(join(folder, 'assets'))
  for (const file of assets.filter((name) => /\.wasm$|\.worker-.*\.js$/.test(name))) {
    series.push({
      name: file.replace(/-[^-]*\.(wasm|js)$/, '.$1'),
      values: [await gzippedKb(join(folder, 'assets', file))],
    })
  }
  return series
}

/** A first visit, nothing in any cache: to the first paint, and until the engine answers. */
const visit = async (url: string): Promise<{ painted: number; answered: number }> => {
  const profile = await createProfile()
  const chromium = await launchChromium(profile.folder)
  try {
    const page = await chromium.newPage()
    await page.goto(url)
    return await page.evaluate(async () => {
      const { holdfast } = globalThis as unknown as { holdfast: { engineInfo(): Promise<unknown> } }
      await holdfast.engineInfo()
      const answered = performance.now()
      const [paint] = performance.getEntriesByName('first-contentful-paint')
      return { painted: paint?.startTime ?? answered, answered }
    })
  } finally {
    await chromium.kill()
    await profile.remove()
  }
}

test('W8: what is shipped, and how soon it answers', async () => {
  const server = createStaticServer(DIST)
  const url = await listen(server, 0)
  try {
    const sizes = await sizesOf(DIST)
    const visits = []
    for (let round = 0; round < ROUNDS; round += 1) visits.push(await visit(url))
    const painted = visits.map((each) => each.painted)
    const answered = visits.map((each) => each.answered)
    await writeResult('size', {
      workload: 'W8',
      title: 'Size and start',
      tables: [
        { title: 'Shipped, compressed', unit: 'KB', better: 'lower', reference: 'entry', series: sizes },
        {
          title: 'A first visit',
          unit: 'ms',
          better: 'lower',
          reference: 'first paint',
          series: [
            { name: 'first paint', values: painted },
            { name: 'the engine answers', values: answered },
          ],
        },
      ],
      checks: [{ promise: 'Entry, in KB', measured: sizes[0]?.values[0] ?? NaN, atMost: 60 }],
      notes: [
        'Each screen is what it adds to the entry. The WebAssembly of SQLite and QuickJS is loaded by the engine, beside the first paint.',
      ],
    })
    expect(median(answered)).toBeGreaterThan(0)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}, 600_000)
