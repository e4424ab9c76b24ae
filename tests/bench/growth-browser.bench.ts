import { expect, test } from 'vitest'
import { median, writeResult } from '../support/bench-results.ts'
import { openEnginePage } from '../support/engine-page.ts'

const SIZES = (process.env['GROWTH_SIZES'] ?? '0,100000,1000000').split(',').map(Number)
const ROUNDS = 5
const EVENTS = 1_000

const nameOf = (size: number): string => `${size.toLocaleString('en')} finished events`

/** An engine in a browser of its own whose one workflow has as long a past. */
const openWorld = async (size: number) => {
  const database = `growth-${size}`
  const { page, relaunch, close } = await openEnginePage(database)
  const deployed = await page.evaluate((events) => globalThis.measured.deploy(1, events), EVENTS)
  const [workflowId = ''] = deployed.workflowIds
  await page.evaluate(([id, events]) => globalThis.measured.age(id, events), [workflowId, size] as const)
  const { fileBytes } = await page.evaluate(() => globalThis.measured.stats())
  let asked = 0
  return {
    name: nameOf(size),
    megabytes: Math.round(fileBytes / 2 ** 20),
    rates: [] as number[],
    opens: [] as number[],
    firstSteps: [] as number[],
    carry: () => page.evaluate((all) => globalThis.measured.carry(all), deployed),
    /** SIGKILL, a new browser, and from asking to open: until the engine runs, and until its first event is committed. */
    async openAgain(): Promise<{ openMs: number; stepMs: number }> {
      const again = await relaunch()
      const openMs = await again.evaluate((name) => globalThis.measured.open(name), database)
      const messageId = `again${(asked += 1)}`
      const stepMs = await again.evaluate(([id, message]) => globalThis.measured.step(id, message), [
        workflowId,
        messageId,
      ] as const)
      return { openMs, stepMs: openMs + stepMs }
    },
    close,
  }
}

test('W5 in Chromium: a million finished events cost the next one nothing, and opening grows with the file', async () => {
  const worlds: Awaited<ReturnType<typeof openWorld>>[] = []
  try {
    for (const size of SIZES) worlds.push(await openWorld(size))
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const world of worlds) {
        const ms = await world.carry()
        if (round > 0) world.rates.push((EVENTS / ms) * 1000)
      }
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const world of worlds) {
        const { openMs, stepMs } = await world.openAgain()
        world.opens.push(openMs)
        world.firstSteps.push(stepMs)
      }
    }
  } finally {
    for (const { close } of worlds) await close()
  }
  const rateOf = (n: number) => median(worlds[n]?.rates ?? [])
  const nameWithSize = ({ name, megabytes }: { name: string; megabytes: number }) => `${name} (${megabytes} MB)`
  const opening = (title: string, key: 'opens' | 'firstSteps') => ({
    title,
    unit: 'ms',
    better: 'lower' as const,
    reference: worlds[0] ? nameWithSize(worlds[0]) : '',
    series: worlds.map((world) => ({ name: nameWithSize(world), values: world[key] })),
  })
  await writeResult('growth-browser', {
    workload: 'W5',
    title: 'Growth, in Chromium',
    tables: [
      {
        title: 'W1 in Chromium, one workflow with a long past',
        unit: 'events/s',
        better: 'higher',
        reference: nameOf(SIZES[0] ?? 0),
        series: worlds.map(({ name, rates }) => ({ name, values: rates })),
      },
      opening('A new browser after a SIGKILL: asked to open → engine runs', 'opens'),
      opening('The same: asked to open → first event committed', 'firstSteps'),
    ],
    checks: SIZES.slice(1).map((size, n) => ({
      promise: `Chromium: W1 with none ÷ W1 with ${size.toLocaleString('en')}`,
      measured: rateOf(0) / rateOf(n + 1),
      atMost: 1.3,
    })),
    notes: [
      'The engine in its worker with IndexedDB as shipped, a browser for each size. A million events are 100,000 attempts with their mutations in 1,000 runs. Opening loads SQLite and QuickJS as well, and reads the whole file into memory: it grows with it.',
    ],
  })
  expect(worlds.every(({ rates }) => rates.length === ROUNDS)).toBe(true)
}, 900_000)
