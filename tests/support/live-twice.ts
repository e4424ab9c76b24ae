import { openEnginePage } from './engine-page.ts'

export interface Life {
  opened: number
  firstStep: number
  done: number
  undisturbed: number
  attemptsAgain: number
  stepsAgain: number
  mutationsAgain: number
  lost: number
  questions: number
  /** From the kill on, with the start of the browser in it. */
  relaunchToFirstStep: number
  relaunchToDone: number
}

/** One browser, killed in the middle of carrying, and what the next one makes of it. */
export const liveTwice = async (
  database: string,
  { workflows, events }: { workflows: number; events: number },
): Promise<Life> => {
  const { page, relaunch, close } = await openEnginePage(database, { tracesSteps: true })
  try {
    const deployed = await page.evaluate(([spread, all]) => globalThis.measured.deployTracing(spread, all), [
      workflows,
      events,
    ] as const)
    const undisturbed = await page.evaluate((each) => globalThis.measured.carry(each), deployed)
    await page.evaluate(async (each) => {
      const { measured } = globalThis
      const carried = async () =>
        Number((await measured.rows(`SELECT count(*) AS n FROM events WHERE status = 'consumed'`))[0]?.['n'])
      const halfway = (await carried()) + (each.workflowIds.length * each.eventsEach) / 2
      await measured.setOff(each)
      while ((await carried()) < halfway) await new Promise((resolve) => setTimeout(resolve, 2))
    }, deployed)
    const relaunched = Date.now()
    const second = await relaunch()
    const life = await second.evaluate(async (name) => {
      const { measured } = globalThis
      const start = performance.now()
      const from = Date.now()
      const opened = await measured.open(name, { tracesSteps: true })
      const open = `SELECT count(*) AS n FROM events WHERE status IN ('pending', 'reserved')`
      // What a look found not to have happened is tried again after its back-off: idle means idle now, not for good.
      for (let turn = 0; turn < 600 && Number((await measured.rows(open))[0]?.['n']) > 0; turn += 1) {
        await measured.idle()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const done = performance.now() - start
      const doneAt = Date.now()
      const [first] = await measured.rows(
        `SELECT min(start_timestamp) AS at FROM handler_runs WHERE start_timestamp >= ${from}`,
      )
      const [again] = await measured.rows(`SELECT count(*) AS n FROM handler_runs WHERE retry_of IS NOT NULL`)
      const [left] = await measured.rows(`SELECT count(*) AS n FROM events WHERE status <> 'consumed'`)
      const [questions] = await measured.rows(`SELECT count(*) AS n FROM escalations WHERE resolved_at IS NULL`)
      const [published] = await measured.rows('SELECT count(*) AS n FROM events')
      return {
        opened,
        done,
        doneAt,
        firstStepAt: Number(first?.['at']),
        firstStep: Number(first?.['at']) - from,
        attemptsAgain: Number(again?.['n']),
        left: Number(left?.['n']),
        published: Number(published?.['n']),
        questions: Number(questions?.['n']),
        traces: await measured.traces(),
        steps: await measured.steps(),
      }
    }, database)
    const { traces, steps, left, published, firstStepAt, doneAt, ...times } = life
    return {
      ...times,
      relaunchToFirstStep: firstStepAt - relaunched,
      relaunchToDone: doneAt - relaunched,
      undisturbed,
      stepsAgain: repeated(steps),
      mutationsAgain: repeated(traces),
      lost: left + published - new Set(traces).size,
    }
  } finally {
    await close()
  }
}

const repeated = (lines: readonly string[]): number => lines.length - new Set(lines).size
