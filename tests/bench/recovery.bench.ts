import { expect, test } from 'vitest'
import { writeResult } from '../support/bench-results.ts'
import { openEnginePage } from '../support/engine-page.ts'

const EVENTS = 200
const ROUNDS = 3

interface Life {
  opened: number
  firstStep: number
  done: number
  undisturbed: number
  attemptsAgain: number
  mutationsAgain: number
  lost: number
  questions: number
}

/** One browser, killed in the middle of carrying, and what the next one makes of it. */
const liveTwice = async (round: number): Promise<Life> => {
  const database = `recovery-${round}`
  const { page, relaunch, close } = await openEnginePage(database)
  try {
    const deployed = await page.evaluate((events) => globalThis.measured.deployTracing(events), EVENTS)
    const undisturbed = await page.evaluate((each) => globalThis.measured.carry(each), deployed)
    await page.evaluate((each) => globalThis.measured.setOff(each), deployed)
    await new Promise((resolve) => setTimeout(resolve, undisturbed / 2))
    const second = await relaunch()
    const life = await second.evaluate(async (name) => {
      const { measured } = globalThis
      const start = performance.now()
      const from = Date.now()
      const opened = await measured.open(name)
      const open = `SELECT count(*) AS n FROM events WHERE status IN ('pending', 'reserved')`
      // What a look found not to have happened is tried again after its back-off: idle means idle now, not for good.
      for (let turn = 0; turn < 600 && Number((await measured.rows(open))[0]?.['n']) > 0; turn += 1) {
        await measured.idle()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const done = performance.now() - start
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
        firstStep: Number(first?.['at']) - from,
        attemptsAgain: Number(again?.['n']),
        left: Number(left?.['n']),
        published: Number(published?.['n']),
        questions: Number(questions?.['n']),
        traces: await measured.traces(),
      }
    }, database)
    const { traces, left, published, ...times } = life
    return {
      ...times,
      undisturbed,
      mutationsAgain: traces.length - new Set(traces).size,
      lost: left + published - new Set(traces).size,
    }
  } finally {
    await close()
  }
}

test('W4: killed in the middle, nothing is lost and no mutation is made twice', async () => {
  const lives: Life[] = []
  for (let round = 0; round < ROUNDS; round += 1) lives.push(await liveTwice(round))
  const all = (key: keyof Life) => lives.map((life) => life[key])
  const total = (key: keyof Life) => all(key).reduce((sum, value) => sum + value, 0)
  await writeResult('recovery', {
    workload: 'W4',
    title: 'Recovery',
    tables: [
      {
        title: `SIGKILL of the browser in the middle of ${EVENTS} events, then a new one`,
        unit: 'ms',
        better: 'lower',
        reference: 'all events, undisturbed',
        series: [
          { name: 'all events, undisturbed', values: all('undisturbed') },
          { name: 'asked to open → engine runs', values: all('opened') },
          { name: 'asked to open → first step', values: all('firstStep') },
          { name: 'asked to open → everything done', values: all('done') },
        ],
      },
    ],
    checks: [
      { promise: 'Events lost', measured: total('lost'), atMost: 0 },
      { promise: 'Mutations made twice', measured: total('mutationsAgain'), atMost: 0 },
      { promise: 'Attempts made again, per kill', measured: total('attemptsAgain') / ROUNDS, atMost: 1 },
      { promise: 'Questions to a person', measured: total('questions'), atMost: 0 },
    ],
    notes: [
      'Each mutation appends a row to a sheet of the demo world, which was told not to recognise repetitions: what is done twice is there twice. What was in flight at the kill is looked up before anything is done again.',
    ],
  })
  expect(total('mutationsAgain')).toBe(0)
  expect(total('lost')).toBe(0)
}, 900_000)
