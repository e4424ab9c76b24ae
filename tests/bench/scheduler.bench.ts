import { expect, test } from 'vitest'
import { ok } from '#engine/model/result.ts'
import type { ToolMethod, ToolOutcome, Tools } from '#engine/ports/tools.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import { agent, sessionOf } from '../support/agents.ts'
import { median, writeResult } from '../support/bench-results.ts'
import { openPlainEngine } from '../support/plain-engine.ts'

const workflow = (producers: number): string => `export default defineWorkflow({
  name: 'timed',
  topics: {},
  producers: {
    ${Array.from({ length: producers }, (_, n) => `p${String(n)}: { schedule: { interval: '${String(n + 1)}h' }, async handler() {} }`).join(',\n    ')}
  },
})`

/** In turn, so that another process on the machine hits all alike. In microseconds. */
const timeInTurn = (rounds: number, works: (() => unknown)[]): number[][] => {
  const times = works.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, work] of works.entries()) times[i]?.push(timeOf(work))
  }
  return times
}

const timeOf = (work: () => unknown): number => {
  const start = performance.now()
  work()
  return (performance.now() - start) * 1000
}

const ratioOf = (few: readonly number[], many: readonly number[]): number => median(many) / median(few)

const engineWith = async (workflows: number, producers: number): Promise<Engine> => {
  const { engine } = await openPlainEngine()
  engine.start()
  for (let n = 0; n < workflows; n += 1) await engine.deployWorkflow({ source: workflow(producers) })
  await engine.idle()
  return engine
}

test('a tick with 1,000 workflows and 5,000 schedules costs at most 5 times one with 10', async () => {
  const small = await engineWith(10, 1)
  const large = await engineWith(1000, 5)
  const [few = [], many = []] = timeInTurn(300, [() => small.look(), () => large.look()])
  await writeResult('scheduler', {
    workload: 'W5',
    title: 'A tick with 10 and with 5,000 schedules',
    tables: [
      {
        title: 'One look for work when nothing is due',
        unit: 'µs',
        better: 'lower',
        reference: '10 workflows, 10 schedules',
        series: [
          { name: '10 workflows, 10 schedules', values: few },
          { name: '1,000 workflows, 5,000 schedules', values: many },
        ],
      },
    ],
    checks: [{ promise: 'a tick with 1,000 workflows ÷ one with 10', measured: ratioOf(few, many), atMost: 5 }],
    notes: ['Real sql.js in one process, no disk. A look asks only for the times that came since the look before.'],
  })
  expect(ratioOf(few, many)).toBeLessThan(5)
}, 600_000)

/** Agents wait in `gate.pass` until they are let through, one at a time. */
const openGate = (): { tools: Tools; letOne(): boolean } => {
  const waiting: (() => void)[] = []
  const pass: ToolMethod = {
    namespace: 'gate',
    method: 'pass',
    kind: 'read',
    title: 'Pass',
    parse: () => ok(null),
    permissionsFor: () => [],
    whereToCheck: () => '',
    call: () => new Promise<ToolOutcome>((resolve) => waiting.push(() => resolve({ kind: 'ok', value: null }))),
  }
  return {
    tools: {
      find: (space, name) => (space === 'gate' && name === 'pass' ? pass : undefined),
      list: () => [pass],
      covers: () => true,
    },
    letOne: () => {
      const next = waiting.shift()
      next?.()
      return next !== undefined
    },
  }
}

const gated = `export default defineAgent({
  async prepare(state, ctx) { await ctx.gate.pass(); return { data: {} } },
})`

/** Chains of five, so that the estimate has paths to follow. */
const startSession = async (engine: Engine, size: number, source?: string): Promise<string> => {
  const keys = Array.from({ length: size }, (_, n) => `a${String(n)}`)
  const more = source === undefined ? {} : { source }
  const agents = keys.map((key, n) =>
    agent(key, { ...more, ...(n % 5 === 0 ? {} : { dependsOn: [keys[n - 1] ?? ''] }) }),
  )
  const created = await engine.createSession(sessionOf(agents))
  if (!created.ok) throw new Error(created.error.message)
  await engine.startSession(created.value.sessionId)
  return created.value.sessionId
}

const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What is read and compiled for the first time is left out. */
const warmUp = 15

/** The first look after each agent that moved on: the most expensive one. */
const timesWhileRunning = async (size: number, moves: number): Promise<number[]> => {
  const gate = openGate()
  const { engine } = await openPlainEngine({ tools: gate.tools })
  engine.start()
  const id = await startSession(engine, size, gated)
  const times: number[] = []
  for (let n = 0; n < moves; n += 1) {
    await drain()
    if (!gate.letOne()) break
    await drain()
    times.push(timeOf(() => engine.getSessionStatus(id)))
  }
  engine.stop()
  return times
}

test('500 agents complete, and their status costs less than 10 times that of 5, finished or running', async () => {
  const { engine } = await openPlainEngine()
  engine.start()
  const ids: string[] = []
  for (const size of [5, 500]) {
    ids.push(await startSession(engine, size))
    await engine.idle()
  }
  for (const id of ids) {
    expect(engine.getSessionStatus(id)).toMatchObject({ value: { progress: 1, session: { state: 'completed' } } })
  }
  const [few = [], many = []] = timeInTurn(
    300,
    ids.map((id) => () => engine.getSessionStatus(id)),
  )
  const fewRunning: number[] = []
  const manyRunning: number[] = []
  for (let round = 0; round < 40; round += 1) fewRunning.push(...(await timesWhileRunning(5, 4)).slice(1))
  for (let round = 0; round < 2; round += 1) manyRunning.push(...(await timesWhileRunning(500, 75)).slice(warmUp))
  await writeResult('sessions', {
    workload: 'S2',
    title: 'Sessions',
    tables: [
      {
        title: 'The status of a finished session',
        unit: 'µs',
        better: 'lower',
        reference: '5 agents',
        series: [
          { name: '5 agents', values: few },
          { name: '500 agents', values: many },
        ],
      },
      {
        title: 'The status of a running session, right after one of its agents moved on',
        unit: 'µs',
        better: 'lower',
        reference: '5 agents',
        series: [
          { name: '5 agents', values: fewRunning },
          { name: '500 agents', values: manyRunning },
        ],
      },
    ],
    checks: [
      { promise: 'finished: the status of 500 agents ÷ that of 5', measured: ratioOf(few, many), atMost: 10 },
      {
        promise: 'running: the status of 500 agents ÷ that of 5',
        measured: ratioOf(fewRunning, manyRunning),
        atMost: 10,
      },
    ],
    notes: [
      'Real sql.js in one process, no disk. While a session runs, a look reads the agents that moved since the last.',
    ],
  })
  expect(ratioOf(few, many)).toBeLessThan(10)
  expect(ratioOf(fewRunning, manyRunning)).toBeLessThan(10)
}, 600_000)
