import { run } from './run.mjs'

// The report is written of whatever was measured, also when a promise was not kept.
const code = await run(process.execPath, [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'bench',
  // One after the other: what runs beside a measurement is in it.
  '--no-file-parallelism',
  ...process.argv.slice(2),
])
const reported = await run(process.execPath, ['scripts/bench-report.mjs'])
process.exit(code || reported)
