import { run } from './run.mjs'

const TSC = 'node_modules/typescript/bin/tsc'
const SVELTE_CHECK = 'node_modules/svelte-check/bin/svelte-check'

/** svelte-check stands in for tsc in src/ui: it checks the plain TypeScript there too. */
const checks = [
  [TSC, '-p', 'src/engine'],
  [TSC, '-p', 'src/worker'],
  [TSC, '-p', 'src/service-worker'],
  [SVELTE_CHECK, '--workspace', 'src/ui', '--tsconfig', './tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  [TSC, '-p', 'tests'],
  [TSC, '-p', '.'],
]

const codes = await Promise.all(checks.map((args) => run(process.execPath, args)))
process.exitCode = codes.some((code) => code !== 0) ? 1 : 0
