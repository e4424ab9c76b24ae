import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from '@playwright/test'
import { findChromium, isRoot } from './chromium.mjs'
import { furnish } from './furnish.mjs'
import { createStaticServer, listen } from './serve.mjs'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))
/** Not among the packages: 185 MB for a look now and then. */
const LIGHTHOUSE = 'lighthouse'
const INSTALL = 'npm install --no-save lighthouse@12.8.2'
const RESULTS = fileURLToPath(new URL('../tests/bench/results', import.meta.url))
/** Not what Lighthouse forgets by itself: the files of the origin hold the end of the log, without which the database is damaged. */
const FORGOTTEN = /** @type {const} */ (['shader_cache', 'service_workers', 'cache_storage'])
/** A browser that has never been here. */
const FRESH = ['#/', '#/gallery', '#/workflows/new', '#/sql', '#/settings']
const TRIES = Number(process.env.TRIES ?? 3)
const FORMS = /** @type {const} */ (['desktop', 'mobile'])
const FLOORS = { performance: 95, accessibility: 100, 'best-practices': 100 }
/** In the lab: how long until the largest thing stands, how much jumps, how long the page is deaf. */
const CEILINGS = {
  'largest-contentful-paint': 2_000,
  'cumulative-layout-shift': 0.02,
  'total-blocking-time': 200,
}

const LIGHTHOUSE_AT = process.env.LIGHTHOUSE ?? LIGHTHOUSE
const { default: lighthouse } = await import(LIGHTHOUSE_AT).catch(() => {
  console.error(`Lighthouse is not here. Bring it with \`${INSTALL}\`, then try again.`)
  process.exit(1)
})
const { desktopConfig } = await import(LIGHTHOUSE_AT)

/** @param {string} executable @param {string} profile */
async function startChromium(executable, profile) {
  const flags = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--disable-gpu']
  const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
  const child = spawn(executable, [...flags, ...quiet, ...(isRoot ? ['--no-sandbox'] : [])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  for await (const line of createInterface({ input: child.stderr })) {
    const port = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return { child, port: Number(port) }
  }
  throw new Error('Chromium ended before it listened.')
}

/** One with work done and under way. @param {Awaited<ReturnType<typeof furnish>>} made @returns {[name: string, address: string][]} */
const furnished = ({ triage, done, run }) => [
  ['dashboard', '#/'],
  ['workflows', '#/workflows'],
  ...['overview', 'graph', 'runs', 'events', 'script', 'settings'].map(
    (tab) => /** @type {[string, string]} */ ([`workflow, ${tab}`, `#/workflows/${triage}/${tab}`]),
  ),
  ['run', `#/runs/${run}`],
  ['inbox', '#/inbox'],
  ['sessions', '#/sessions'],
  ['session', `#/sessions/${done}`],
  ['new session', '#/sessions/new'],
  ['settings, backup', '#/settings/backup'],
]

/** @param {any} lhr @returns {{ figures: Record<string, number>, faults: string[] }} */
function read({ categories, audits }) {
  const faults = Object.keys(FLOORS)
    .filter((id) => id !== 'performance')
    .flatMap((id) => categories[id].auditRefs)
    .map(({ id }) => audits[id])
    .filter(({ score }) => score !== null && score < 1)
    .map(({ id, title, details }) => `${id}: ${title} ${details?.items?.[0]?.node?.snippet ?? ''}`)
  const figures = Object.fromEntries([
    ...Object.keys(FLOORS).map((id) => [id, Math.round((categories[id].score ?? 0) * 100)]),
    ...Object.keys(CEILINGS).map((id) => [id, audits[id].numericValue ?? Infinity]),
  ])
  return { figures, faults }
}

/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

/** @param {Record<string, number[]>} figures */
function judge(figures) {
  const scores = Object.entries(FLOORS).map(([id, floor]) => {
    const score = median(figures[id] ?? [])
    return { text: `${id} ${score}`, isGood: score >= floor }
  })
  const times = Object.entries(CEILINGS).map(([id, ceiling]) => {
    const value = median(figures[id] ?? [])
    return { text: `${id} ${value < 10 ? value.toFixed(3) : Math.round(value)}`, isGood: value <= ceiling }
  })
  return [...scores, ...times]
}

const executable = await findChromium()
if (executable === null) throw new Error('No Chromium found: run `npm test`, or set CHROMIUM_PATH to one.')
const server = createStaticServer(DIST)
const url = await listen(server, 0)
const profile = await mkdtemp(join(tmpdir(), 'holdfast-lighthouse-'))
const { child, port } = await startChromium(executable, profile)
let isBad = false

/** @param {string} address @param {string} form */
async function measure(address, form) {
  const flags = { port, logLevel: 'error', onlyCategories: Object.keys(FLOORS), clearStorageTypes: FORGOTTEN }
  const { lhr } = await lighthouse(address, flags, form === 'desktop' ? desktopConfig : undefined)
  return read(lhr)
}

/** @type {{ form: string, name: string, figures: Record<string, number[]> }[]} */
const measured = []

/** @param {[name: string, address: string][]} routes */
async function measureAll(routes) {
  for (const form of FORMS) {
    for (const [name, address] of routes) {
      const tries = []
      while (tries.length < TRIES) tries.push(await measure(`${url}${address}`, form))
      /** @type {Record<string, number[]>} */
      const figures = {}
      for (const id of [...Object.keys(FLOORS), ...Object.keys(CEILINGS)])
        figures[id] = tries.map((each) => each.figures[id] ?? NaN)
      const marks = judge(figures)
      isBad ||= !marks.every((mark) => mark.isGood)
      measured.push({ form, name, figures })
      const faults = new Set(tries.flatMap((each) => each.faults))
      const words = marks.map((mark) => `${mark.isGood ? '✓' : '✗'} ${mark.text}`)
      console.log(`${form.padEnd(8)}${name.padEnd(20)}${words.join('  ')}`)
      for (const fault of faults) console.log(`        ${fault}`)
    }
  }
}

async function furnishHere() {
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
  const page = await browser.contexts()[0]?.newPage()
  if (page === undefined) throw new Error('Chromium has no window to open pages in.')
  await page.goto(url)
  const made = await furnish(page)
  await page.close()
  await browser.close()
  return made
}

/** In the form that scripts/bench-report.mjs shows. */
async function writeResult() {
  /** @param {string} title @param {string} unit @param {string} figure @param {'higher' | 'lower'} better */
  const table = (title, unit, figure, better) =>
    FORMS.map((form) => {
      const all = measured.filter((each) => each.form === form)
      const series = all.map(({ name, figures }) => ({ name, values: figures[figure] ?? [] }))
      return { title: `${title}, ${form}`, unit, better, series, reference: all[0]?.name ?? '' }
    })
  /** @param {string} figure @param {(values: number[]) => number} worst */
  const worst = (figure, worst) => worst(measured.map(({ figures }) => median(figures[figure] ?? [])))
  const [least, most] = [(/** @type {number[]} */ v) => Math.min(...v), (/** @type {number[]} */ v) => Math.max(...v)]
  const { version } = JSON.parse(
    await readFile(fileURLToPath(new URL('../package.json', import.meta.resolve(LIGHTHOUSE_AT))), 'utf8'),
  )
  const result = {
    workload: 'U1',
    title: 'Lighthouse on every screen of the built application',
    tables: [
      ...table('Performance', 'points', 'performance', 'higher'),
      ...table('Largest contentful paint', 'ms', 'largest-contentful-paint', 'lower'),
    ],
    checks: [
      ...Object.entries(FLOORS).map(([id, floor]) => ({
        promise: `Lowest ${id} of any screen, desktop and phone`,
        measured: worst(id, least),
        atLeast: floor,
      })),
      ...Object.entries(CEILINGS).map(([id, ceiling]) => ({
        promise: `Worst ${id} of any screen, desktop and phone`,
        measured: worst(id, most),
        atMost: ceiling,
      })),
    ],
    notes: [
      'The phone is simulated by Lighthouse: a processor four times as slow as this machine’s, 1.6 Mbit/s and 150 ms to the server. Other work on the machine only ever makes a page slower. Screens that need something in the database are shown a lived-in installation.',
    ],
    takenAt: new Date().toISOString(),
    machine: {
      cores: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
      memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
      load: loadavg()
        .map((load) => load.toFixed(1))
        .join(' '),
      node: process.version,
      lighthouse: version,
    },
  }
  await mkdir(RESULTS, { recursive: true })
  await writeFile(join(RESULTS, 'lighthouse.json'), `${JSON.stringify(result, null, 2)}\n`)
}

try {
  // The first page of a new browser pays for things that are no page's own.
  await measure(url, 'desktop')
  await measureAll(FRESH.map((address) => [address === '#/' ? 'welcome' : address.slice(2), address]))
  await measureAll(furnished(await furnishHere()))
  await writeResult()
} finally {
  child.kill()
  server.closeAllConnections()
  server.close()
  await rm(profile, { recursive: true, force: true, maxRetries: 5 })
}
process.exitCode = isBad ? 1 : 0
