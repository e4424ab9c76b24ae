import { createProfile } from './launch-chromium.ts'
import { launchRawChromium } from './raw-chromium.ts'

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof launchRawChromium>>['openTab']>>

export interface EngineKillReport {
  kills: number
  acknowledgedEvents: number
  /** How often each event's row was really appended in the outside world: exactly once each, if all is well. */
  timesDone: Record<string, number>
  eventStatuses: Record<string, number>
  problems: string[]
  /** That only a person can answer. */
  questions: number
  /** A tab that dies three times in a row in one chain of attempts is not trusted with a fourth: a person says "retry". */
  retriedByPerson: number
  /** How often the browser had thrown its databases away, and everything was put together from files. */
  restored: number
}

const script = `
export default defineWorkflow({
  name: 'Killed',
  permissions: ['demo'],
  topics: { item: {} },
  consumers: {
    carry: {
      subscribe: ['item'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: { id: event.messageId } }
      },
      async mutate(prepared, ctx) { await ctx.demo.sheet.append({ sheet: 'killed', values: prepared.data }) },
    },
  },
})`

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks the page's engine; the expression sees it as `engine` and gets the value of a Result. */
const ask = <T>(page: Page, expression: string): Promise<T> =>
  page.evaluate<T>(`(async () => {
    const engine = globalThis.holdfast
    const value = (result) => { if (!result.ok) throw new Error(result.error.message); return result.value }
    return ${expression}
  })()`)

const openApp = async (folder: string, url: string) => {
  const chromium = await launchRawChromium(folder)
  const page = await chromium.openTab('about:blank')
  await page.open(url)
  await page.evaluate(`new Promise((resolve) => {
    const look = () => (globalThis.holdfast ? resolve(null) : setTimeout(look, 20))
    look()
  })`)
  await ask(page, `value(await engine.engineInfo())`)
  return { chromium, page }
}

/**
 * The whole application under SIGKILL: events come in and are carried to a world that does not recognise repeated keys, so that
 * whatever is sent twice is seen twice. What was in flight at the kill is looked up by the engine before it goes on.
 */
export const killEngine = async (url: string, kills: number, random = Math.random): Promise<EngineKillReport> => {
  const profile = await createProfile()
  const report: EngineKillReport = {
    kills: 0,
    acknowledgedEvents: 0,
    timesDone: {},
    eventStatuses: {},
    problems: [],
    questions: 0,
    retriedByPerson: 0,
    restored: 0,
  }
  let workflowId = ''
  try {
    for (let round = 0; round <= kills; round += 1) {
      const { chromium, page } = await openApp(profile.folder, url)
      try {
        if (round === 0) {
          await ask(page, `value(await engine.setDemoKnobs({ latencyMs: 40, ignoreKeys: true }))`)
          const deployed = await ask<{ workflowId: string }>(
            page,
            `value(await engine.deployWorkflow({ source: ${JSON.stringify(script)} }))`,
          )
          workflowId = deployed.workflowId
        }
        await inspect(page, report)
        await answerDeaths(page, report)
        if (round === kills) {
          await finish(page, report)
          break
        }
        for (let i = 0; i < 8; i += 1) {
          const messageId = `event-${String(report.acknowledgedEvents)}`
          await ask(
            page,
            `value(await engine.publishEvent(${JSON.stringify(workflowId)}, 'item', { messageId: ${JSON.stringify(messageId)} }))`,
          )
          report.acknowledgedEvents += 1
        }
        await pause(random() * 600)
        await chromium.kill()
        report.kills += 1
      } finally {
        await chromium.kill()
      }
    }
    return report
  } finally {
    await profile.remove()
  }
}

const answerDeaths = async (page: Page, report: EngineKillReport): Promise<void> => {
  const open = await ask<{ id: string; message: string }[]>(page, `value(await engine.listEscalations({ open: true }))`)
  for (const { id } of open.filter(({ message }) => message.startsWith('The tab died'))) {
    await ask(page, `value(await engine.resolveEscalation(${JSON.stringify(id)}, 'retry'))`)
    report.retriedByPerson += 1
  }
}

const inspect = async (page: Page, report: EngineKillReport): Promise<void> => {
  const { lastRecovery } = await ask<{ lastRecovery: { violations: string[] } | null }>(
    page,
    `value(await engine.engineInfo())`,
  )
  report.problems.push(...(lastRecovery?.violations ?? []))
  const { wasRestored } = await ask<{ wasRestored: boolean }>(page, `value(await engine.storage())`)
  if (wasRestored) report.restored += 1
  const check = await ask<Record<string, string>[]>(page, `value(await engine.sql('PRAGMA integrity_check'))`)
  report.problems.push(...check.flatMap((row) => Object.values(row)).filter((line) => line !== 'ok'))
  const [found] = await ask<{ n: number }[]>(page, `value(await engine.sql('SELECT count(*) AS n FROM events'))`)
  if ((found?.n ?? 0) < report.acknowledgedEvents) {
    report.problems.push(`${String(report.acknowledgedEvents)} events acknowledged, ${String(found?.n)} found`)
  }
}

/** Looks without any progress after which the rest is given up. */
const PATIENCE = 600

/** Until nothing is left to do, however much the kills have piled up: only standing still is an end. */
const workOff = async (page: Page, report: EngineKillReport): Promise<void> => {
  const open = `SELECT count(*) AS n FROM events WHERE status IN ('pending', 'reserved')`
  let left = Infinity
  for (let looks = 0; looks < PATIENCE && left > 0; looks += 1) {
    const [found] = await ask<{ n: number }[]>(page, `value(await engine.sql(${JSON.stringify(open)}))`)
    if ((found?.n ?? 0) < left) looks = 0
    left = found?.n ?? 0
    await answerDeaths(page, report)
    // A question waits for a person: without one it stays open for ever.
    if ((await ask<unknown[]>(page, `value(await engine.listEscalations({ open: true }))`)).length > 0) return
    await pause(100)
  }
  if (left === 0) await ask(page, `value(await engine.idle({ timeoutMs: 60000 }))`)
}

const finish = async (page: Page, report: EngineKillReport): Promise<void> => {
  await workOff(page, report)
  const questions = await ask<unknown[]>(page, `value(await engine.listEscalations({ open: true }))`)
  report.questions = questions.length
  const statuses = await ask<{ status: string; n: number }[]>(
    page,
    `value(await engine.sql('SELECT status, count(*) AS n FROM events GROUP BY status'))`,
  )
  for (const { status, n } of statuses) report.eventStatuses[status] = n
  const world = await ask<{ sheets: Record<string, { values: { id: string } }[]> }>(
    page,
    `value(await engine.demoSnapshot())`,
  )
  for (const { values } of world.sheets['killed'] ?? []) {
    report.timesDone[values.id] = (report.timesDone[values.id] ?? 0) + 1
  }
}
