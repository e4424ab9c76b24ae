import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figure, plotBars } from './bench-plot.mjs'

/** @typedef {import('../tests/support/bench-results.ts').WrittenResult} Result */
/** @typedef {import('../tests/support/bench-results.ts').ResultTable} Table */
/** @typedef {import('../tests/support/bench-results.ts').Check} Check */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RESULTS = join(ROOT, 'tests/bench/results')
const PLOTS = join(ROOT, 'docs/benchmarks')

/** @param {readonly number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

/** @param {string} name */
const isOurs = (name) =>
  !/^(DBOS|Restate|durably|openworkflow|n8n|graphile|BullMQ|Effect|absurd-sql|wa-sqlite|official|PGlite|naive|raw)/.test(
    name,
  )

/** What the engine does comes first, then what is below it and around it. @param {{ file: string, result: Result }} read */
const rank = ({ file, result: { workload } }) => `${workload.startsWith('W') ? 0 : 1} ${workload} ${file}`

/** @returns {Promise<{ file: string, result: Result }[]>} */
async function readResults() {
  const files = (await readdir(RESULTS).catch(() => [])).filter((file) => file.endsWith('.json'))
  const read = files.map(async (file) => ({
    file: file.replace(/\.json$/, ''),
    result: JSON.parse(await readFile(join(RESULTS, file), 'utf8')),
  }))
  return (await Promise.all(read)).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

/** @param {string[][]} rows */
const markdownTable = ([head = [], ...rows]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** @param {Table} table */
function tableRows({ unit, series, reference }) {
  const base = median(series.find(({ name }) => name === reference)?.values ?? [])
  return markdownTable([
    ['', `median, ${unit}`, 'all rounds', `÷ ${reference}`],
    ...series.map(({ name, values }) => [
      name,
      figure(median(values)),
      values.length > 12
        ? `${figure(Math.min(...values))} – ${figure(Math.max(...values))} (${values.length})`
        : values.map(figure).join(', '),
      figure(median(values) / base),
    ]),
  ])
}

/** @param {Check} check */
function checkRow({ promise, measured, atMost, atLeast }) {
  const aim = atMost !== undefined ? `≤ ${figure(atMost)}` : atLeast !== undefined ? `≥ ${figure(atLeast)}` : '–'
  const isKept = (atMost === undefined || measured <= atMost) && (atLeast === undefined || measured >= atLeast)
  const isPromised = atMost !== undefined || atLeast !== undefined
  return [promise, aim, figure(measured), isPromised ? (isKept ? 'yes' : '**no**') : '–']
}

/**
 * @param {string} file
 * @param {Table} table
 * @param {number} index
 */
async function writePlot(file, table, index) {
  const name = `${file}-${index + 1}.svg`
  const bars = table.series.map(({ name, values }) => ({ name, value: median(values), isOurs: isOurs(name) }))
  await writeFile(join(PLOTS, name), plotBars({ title: table.title, unit: table.unit, bars }))
  return `![${table.title}](benchmarks/${name})`
}

/** @param {{ file: string, result: Result }} read */
async function section({ file, result }) {
  const parts = [`## ${result.workload} ${result.title}`]
  for (const [index, table] of result.tables.entries()) {
    parts.push(`**${table.title}** (${table.better} is better)`, await writePlot(file, table, index), tableRows(table))
  }
  if (result.checks.length > 0) {
    parts.push(markdownTable([['promise', 'aim', 'measured', 'kept'], ...result.checks.map(checkRow)]))
  }
  parts.push(
    ...result.notes
      .map((note) => `- ${note}`)
      .join('\n')
      .split('\n\n'),
  )
  const { load, ...machine } = result.machine
  parts.push(
    `_${result.takenAt.slice(0, 16).replace('T', ' ')} UTC, load ${load}; ${Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}._`,
  )
  return parts.filter((part) => part !== '').join('\n\n')
}

const INTRODUCTION = `# Benchmarks

Made by \`npm run bench\` and \`npm run bench:peers\` from \`tests/bench/results\`; do not edit by hand.

Read the ratios. Everything in one table was measured in turn in the same run, so that whatever else the machine was doing hit all
of it alike; the absolute figures belong to the machine and the load named below each table. Figures are medians.`

/** @param {{ result: Result }[]} results */
const glance = (results) => {
  const rows = results.flatMap(({ result }) => result.checks.map((check) => [result.workload, ...checkRow(check)]))
  return `## Promises at a glance\n\n${markdownTable([['', 'promise', 'aim', 'measured', 'kept'], ...rows])}`
}

await mkdir(PLOTS, { recursive: true })
const results = await readResults()
const sections = []
for (const read of results) sections.push(await section(read))
await writeFile(join(ROOT, 'docs/benchmarks.md'), `${[INTRODUCTION, glance(results), ...sections].join('\n\n')}\n`)
console.log(`docs/benchmarks.md: ${results.length} results.`)
