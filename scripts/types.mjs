import { run } from './run.mjs'

const TSC = 'node_modules/typescript/bin/tsc'
const SVELTE_CHECK = 'node_modules/svelte-check/bin/svelte-check'

/** What did not change since the last look is not looked at again. */
const CACHE = 'node_modules/.cache/tsc'

/** @param {string} project */
const tsc = (project) => {
  const remembered = `${CACHE}/${project === '.' ? 'root' : project.replaceAll('/', '-')}.tsbuildinfo`
  return [TSC, '-p', project, '--incremental', '--tsBuildInfoFile', remembered]
}

/** svelte-check stands in for tsc in src/ui: it checks the plain TypeScript there too. */
const checks = [
  tsc('src/engine'),
  tsc('src/worker'),
  tsc('src/service-worker'),
  [SVELTE_CHECK, '--workspace', 'src/ui', '--tsconfig', './tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  tsc('tests'),
  tsc('.'),
]

const codes = await Promise.all(checks.map((args) => run(process.execPath, args)))
process.exitCode = codes.some((code) => code !== 0) ? 1 : 0
