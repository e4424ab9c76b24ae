import { expect, test } from 'vitest'
import { median, writeResult, type ResultTable } from '../support/bench-results.ts'
import { openEnginePage } from '../support/engine-page.ts'
import { profileThreads, type ThreadProfile } from '../support/thread-profile.ts'

const ROUNDS = 3
const EVENTS = 1_200

type Part = (typeof parts)[number]
const parts = [
  'the engine waits',
  'the engine: the disk',
  'the engine: SQLite',
  'the engine: our own code',
  'the engine: messages',
  'the engine: the rest',
  'sandboxes: QuickJS',
  'sandboxes: our own code',
  'sandboxes: messages',
  'sandboxes: the rest',
] as const

const DISK = new Set(['flush', 'write', 'read', 'getSize', 'truncate', 'transaction', 'put', 'objectStore'])

const kindOf = (name: string, url: string): 'waiting' | 'wasm' | 'code' | 'disk' | 'messages' | 'rest' => {
  if (name === '(idle)') return 'waiting'
  if (url.includes('.wasm') || url.startsWith('wasm:')) return 'wasm'
  if (url !== '') return 'code'
  if (DISK.has(name)) return 'disk'
  return name === 'postMessage' ? 'messages' : 'rest'
}

const ENGINE: Record<ReturnType<typeof kindOf>, Part> = {
  waiting: 'the engine waits',
  disk: 'the engine: the disk',
  wasm: 'the engine: SQLite',
  code: 'the engine: our own code',
  messages: 'the engine: messages',
  rest: 'the engine: the rest',
}

const SANDBOX: Record<ReturnType<typeof kindOf>, Part | null> = {
  waiting: null,
  disk: 'sandboxes: the rest',
  wasm: 'sandboxes: QuickJS',
  code: 'sandboxes: our own code',
  messages: 'sandboxes: messages',
  rest: 'sandboxes: the rest',
}

const runs = ({ urls }: ThreadProfile, file: string): boolean => [...urls].some((url) => url.includes(file))

/** Microseconds of each part, for one event. */
const sumUp = (threads: readonly ThreadProfile[]): Map<Part, number> => {
  const perEvent = new Map<Part, number>(parts.map((part) => [part, 0]))
  for (const thread of threads) {
    const table = runs(thread, 'measured.worker') ? ENGINE : runs(thread, 'sandbox.worker') ? SANDBOX : null
    for (const { name, url, us } of table === null ? [] : thread.spent) {
      const part = table?.[kindOf(name, url)]
      if (part) perEvent.set(part, (perEvent.get(part) ?? 0) + us / EVENTS)
    }
  }
  return perEvent
}

test('W1: where the time of an event goes', async () => {
  const { page, close } = await openEnginePage('profile')
  const browser = page.context().browser()
  const tables: ResultTable[] = []
  try {
    if (browser === null) throw new Error('The page has no browser.')
    for (const workflows of [1, 8]) {
      const deployed = await page.evaluate(([count, events]) => globalThis.measured.deploy(count, events), [
        workflows,
        EVENTS,
      ] as const)
      const carry = () => page.evaluate((all) => globalThis.measured.carry(all), deployed)
      // Until everything is compiled that is going to be.
      for (let n = 0; n < 2; n += 1) await carry()
      const rounds: Map<Part, number>[] = []
      for (let n = 0; n < ROUNDS; n += 1) rounds.push(sumUp(await profileThreads(browser, carry)))
      tables.push({
        title: workflows === 1 ? 'One workflow: time for one event' : `${workflows} workflows: time for one event`,
        unit: 'µs',
        better: 'lower',
        reference: 'the engine: our own code',
        series: parts.map((part) => ({ name: part, values: rounds.map((round) => round.get(part) ?? NaN) })),
      })
    }
  } finally {
    await close()
  }
  await writeResult('profile', {
    workload: 'W1',
    title: 'Where the time of an event goes',
    tables,
    checks: [],
    notes: [
      'Every thread is sampled while 1,200 events are carried, which makes it slower than W1: read the shares. What the sandboxes do is the sum over their threads, which work beside the engine; of the engine’s own thread also the waiting is shown. The disk is writing to the log and waiting until that is synced; our own code is all JavaScript: the engine’s decisions, the comparison of pages, the records of the log.',
    ],
  })
  for (const { series } of tables) {
    expect(median(series.find(({ name }) => name === 'the engine: SQLite')?.values ?? [])).toBeGreaterThan(0)
    expect(median(series.find(({ name }) => name === 'sandboxes: QuickJS')?.values ?? [])).toBeGreaterThan(0)
  }
}, 300_000)
