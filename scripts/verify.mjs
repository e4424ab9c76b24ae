import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm, npmKeeping } from './run.mjs'

const reports = await mkdtemp(join(tmpdir(), 'holdfast-verify-'))
const unitReport = join(reports, 'unit.json')
const e2eReport = join(reports, 'e2e.json')

/** @typedef {{ passed: number, failed: number }} Count */
/** @typedef {{ name: string, script: string[], count?: () => Promise<Count> }} Step */

/** Each uses one core for most of its time. @type {Step[]} */
const looksAtTheCode = [
  { name: 'format', script: ['format:check'] },
  { name: 'lint', script: ['lint'] },
  { name: 'types', script: ['types'] },
  { name: 'module graph', script: ['graph'] },
  { name: 'dead code', script: ['dead-code'] },
]

/** @type {Step} */
const unit = {
  name: 'unit',
  script: ['unit', '--', '--reporter=default', '--reporter=json', `--outputFile.json=${unitReport}`],
  count: async () => {
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(unitReport, 'utf8'))
    return { passed: numPassedTests, failed: numFailedTests }
  },
}

/** @type {Step[]} */
const inTheBrowser = [
  { name: 'build', script: ['build'] },
  { name: 'budgets', script: ['budgets'] },
  {
    name: 'e2e',
    // What passes when it is tried again is told as flaky, and does not stop what has nothing to do with it.
    script: ['e2e', '--', '--reporter=list,json', '--retries=2'],
    count: async () => {
      const { stats } = JSON.parse(await readFile(e2eReport, 'utf8'))
      return { passed: stats.expected + stats.flaky, failed: stats.unexpected }
    },
  },
]

/** @param {number} startedAt */
const seconds = (startedAt) => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`

const total = { passed: 0, failed: 0 }
const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: e2eReport }
const begin = performance.now()

/**
 * @param {Step} step
 * @param {(script: string[]) => Promise<boolean>} perform
 */
async function take({ name, script, count }, perform) {
  const startedAt = performance.now()
  const succeeded = await perform(['run', '--silent', ...script])
  console.log(`── ${name} ${succeeded ? 'ok' : 'FAILED'} in ${seconds(startedAt)}`)

  const { passed, failed } = (await count?.().catch(() => null)) ?? { passed: 0, failed: 0 }
  total.passed += passed
  // A step can fail without a failed test: a wrong format, a test file that does not load.
  total.failed += succeeded ? failed : Math.max(failed, 1)
}

/** @param {Step} step */
async function show(step) {
  console.log(`\n── ${step.name}`)
  await take(step, async (script) => (await npm(script, { env })) === 0)
}

/** Said when it is over, so that it does not mix with what runs beside it. @param {Step} step */
async function showAfterwards(step) {
  await take(step, async (script) => {
    const { code, said } = await npmKeeping(script, { env })
    if (code !== 0) console.log(`\n── ${step.name}\n${said}`)
    return code === 0
  })
}

/** @param {Step[]} steps @param {(step: Step) => Promise<void>} perform */
async function inOrder(steps, perform) {
  for (const step of steps) if (total.failed === 0) await perform(step)
}

await Promise.all([inOrder(looksAtTheCode, showAfterwards), show(unit)])
await inOrder(inTheBrowser, show)

await rm(reports, { recursive: true, force: true })
console.log(`\nAll in ${seconds(begin)}\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
