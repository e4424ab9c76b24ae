import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TEMPLATES = fileURLToPath(new URL('../src/ui/features/gallery/templates', import.meta.url))
const SETTLE_MS = 60_000

const FAILING = `export default defineWorkflow({
  name: 'Invoice check',
  permissions: ['demo'],
  topics: { invoice: {} },
  producers: {
    read: {
      schedule: { cron: '*/15 * * * *' },
      publishes: ['invoice'],
      async handler(state, ctx) {
        await ctx.topics.publish('invoice', { messageId: 'i1', title: 'Invoice 1', payload: { total: 12 } })
      },
    },
  },
  consumers: {
    check: {
      subscribe: ['invoice'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('invoice', { limit: 1 })
        if (!event) return { reservations: [] }
        const amount = event.payload.lines.amount
        return { reservations: [{ topic: 'invoice', ids: [event.messageId] }], data: { amount } }
      },
    },
  },
})`

/** @typedef {import('@playwright/test').Page} Page */

/** @param {Page} page @param {string} method @param {unknown[]} args @returns {Promise<any>} */
async function ask(page, method, ...args) {
  const answer = await page.evaluate(
    ([name, given]) => /** @type {any} */ (globalThis).holdfast[name](...given),
    /** @type {const} */ ([method, args]),
  )
  if (!answer.ok) throw new Error(`${method}: ${answer.error.message}`)
  return answer.value
}

/** @param {string} name */
const template = (name) => readFile(join(TEMPLATES, `${name}.workflow.ts`), 'utf8')

/**
 * A lived-in installation: work done, something failed, something only a person can tell, sessions done and under way.
 * @param {Page} page
 */
export async function furnish(page) {
  await ask(page, 'setDemoKnobs', { loseNextResponse: 1, unknownNextCheck: 50 })
  await ask(page, 'deployWorkflow', { source: await template('customer-book') })
  await ask(page, 'idle', { timeoutMs: SETTLE_MS })
  await ask(page, 'setDemoKnobs', { unknownNextCheck: 0 })
  const triage = await ask(page, 'deployWorkflow', { source: await template('inbox-triage') })
  for (const name of ['order-desk', 'digest', 'mail-router']) {
    await ask(page, 'deployWorkflow', { source: await template(name) })
  }
  await ask(page, 'deployWorkflow', { source: FAILING })
  await ask(page, 'idle', { timeoutMs: SETTLE_MS })
  const done = await startSession(page, 'sales-report')
  await ask(page, 'idle', { timeoutMs: SETTLE_MS })
  await ask(page, 'setDemoKnobs', { latencyMs: 4_000 })
  const underWay = await startSession(page, 'morning-briefing')
  const runs = await ask(page, 'listRuns', { workflowId: triage.workflowId, limit: 50 })
  const longest = runs.rows.toSorted(
    (/** @type {any} */ a, /** @type {any} */ b) => b.handlerRunCount - a.handlerRunCount,
  )
  return { triage: triage.workflowId, done, underWay, run: longest[0]?.id }
}

/** @param {Page} page @param {string} name */
async function startSession(page, name) {
  await go(page, `#/sessions/new?template=${name}`)
  await page.getByText('Ready to start.').waitFor()
  await page.getByRole('button', { name: 'Create and start' }).click()
  await page.waitForURL(/#\/sessions\/sess_/)
  return page.url().split('/').at(-1)
}

/** @param {Page} page @param {string} address */
export const go = (page, address) => page.evaluate(`location.hash = ${JSON.stringify(address)}`)
