import { run } from './run.mjs'

// Some measure the built application: it has to be this one.
const built = await run(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'])
if (built !== 0) process.exit(built)
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
