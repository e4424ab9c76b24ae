import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromiumPath } from './launch-chromium.ts'

const RESULTS = fileURLToPath(new URL('../bench/results/', import.meta.url))

/** One thing that was measured, round by round; the rounds of all series of a table were taken in turn. */
export interface Series {
  name: string
  values: number[]
}

export interface ResultTable {
  title: string
  unit: string
  better: 'higher' | 'lower'
  series: Series[]
  /** The series that all others are divided by. */
  reference: string
}

/** A promise, and what came of it. Both are ratios or counts, never absolute times. */
export interface Check {
  promise: string
  measured: number
  atMost?: number
  atLeast?: number
}

export interface BenchResult {
  /** `W1`, `W2`, …: where the report shows it. */
  workload: string
  title: string
  tables: ResultTable[]
  checks: Check[]
  /** What a reader has to know: how it was measured, and where it falls short, why. */
  notes: string[]
}

export interface WrittenResult extends BenchResult {
  takenAt: string
  machine: Record<string, string>
}

const versionOf = (name: string): string =>
  (createRequire(import.meta.url)(`../../node_modules/${name}/package.json`) as { version: string }).version

const describeMachine = async (): Promise<Record<string, string>> => {
  const chromium = await promisify(execFile)(await chromiumPath(), ['--version']).catch(() => ({ stdout: 'none' }))
  return {
    cores: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: loadavg()
      .map((load) => load.toFixed(1))
      .join(' '),
    node: process.version,
    chromium: chromium.stdout.replace(/\s+(built on|running on).*/s, '').trim(),
    'sql.js': versionOf('sql.js'),
    'quickjs-emscripten-core': versionOf('quickjs-emscripten-core'),
  }
}

export const median = (values: readonly number[]): number => at(values, 0.5)

/** The value below which that share of all lie. */
export const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN

/** Keeps what was measured for the report, and prints it. */
export const writeResult = async (file: string, result: BenchResult): Promise<void> => {
  const written: WrittenResult = { ...result, takenAt: new Date().toISOString(), machine: await describeMachine() }
  await mkdir(RESULTS, { recursive: true })
  await writeFile(`${RESULTS}${file}.json`, `${JSON.stringify(written, null, 2)}\n`)
  const lines = result.tables.flatMap(({ title, unit, series }) => [
    title,
    ...series.map(({ name, values }) => `  ${name.padEnd(40)} ${median(values).toPrecision(4)} ${unit}`),
  ])
  const checks = result.checks.map(
    ({ promise, measured, atMost, atLeast }) =>
      `  ${promise}: ${measured.toPrecision(3)}${atMost === undefined ? '' : ` (at most ${atMost})`}${atLeast === undefined ? '' : ` (at least ${atLeast})`}`,
  )
  console.log(`\n${result.workload} ${result.title}\n${[...lines, ...checks].join('\n')}\n`)
}
