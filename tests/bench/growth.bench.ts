import { expect, test } from 'vitest'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { addFinishedEvents } from '../support/big-database.ts'
import { median, writeResult } from '../support/bench-results.ts'
import { openNodeEngine } from '../support/node-engine.ts'
import { openTestStore } from '../support/open-test-store.ts'
import { loadQuickjsWasm } from '../support/quickjs-wasm.ts'
import { carryAll, deployCarriers } from '../support/workloads.ts'

const SIZES = [0, 100_000, 1_000_000]
const ROUNDS = 7
const EVENTS = 300

const nameOf = (size: number): string => `${size.toLocaleString('en')} finished events`

const openWorld = async (sandbox: Sandbox, size: number) => {
  const world = await openNodeEngine(sandbox)
  const deployed = await deployCarriers(world.engine, 1, EVENTS)
  addFinishedEvents(world.database, deployed.workflowIds[0] ?? '', size)
  return { name: nameOf(size), ...world, deployed, rates: [] as number[], opens: [] as number[], megabytes: 0 }
}

test('W5: a million finished events cost the next one nothing', async () => {
  const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript })
  const worlds = await Promise.all(SIZES.map((size) => openWorld(sandbox, size)))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const world of worlds) {
      const ms = await carryAll(world.engine, world.deployed)
      if (round > 0) world.rates.push((EVENTS / ms) * 1000)
    }
  }
  for (const world of worlds) {
    world.engine.stop()
    const bytes = world.exportBytes()
    world.megabytes = bytes.length / 2 ** 20
    world.database.close()
    for (let round = 0; round < 3; round += 1) {
      const start = performance.now()
      const again = await openTestStore(bytes)
      again.store.handlerRuns.listActive()
      again.store.events.peek(world.deployed.workflowIds[0] ?? '', 'item', 1)
      world.opens.push(performance.now() - start)
      again.database.close()
    }
  }
  const rateOf = (n: number) => median(worlds[n]?.rates ?? [])
  await writeResult('growth', {
    workload: 'W5',
    title: 'Growth',
    tables: [
      {
        title: 'W1 in Node, one workflow with a long past',
        unit: 'events/s',
        better: 'higher',
        reference: nameOf(0),
        series: worlds.map(({ name, rates }) => ({ name, values: rates })),
      },
      {
        title: 'Opening the database from memory to the first answer',
        unit: 'ms',
        better: 'lower',
        reference: `${nameOf(0)} (${Math.round(worlds[0]?.megabytes ?? 0)} MB)`,
        series: worlds.map(({ name, opens, megabytes }) => ({
          name: `${name} (${Math.round(megabytes)} MB)`,
          values: opens,
        })),
      },
    ],
    checks: [
      { promise: 'W1 with none ÷ W1 with 100,000', measured: rateOf(0) / rateOf(1), atMost: 1.3 },
      { promise: 'W1 with none ÷ W1 with 1,000,000', measured: rateOf(0) / rateOf(2), atMost: 1.3 },
    ],
    notes: [
      'A million events are 100,000 attempts with their mutations in 1,000 runs. QuickJS and sql.js in one process, no disk: the flush is measured in W6, where it costs the same at 1 and at 200 MB.',
      'Opening copies the file into memory, so it grows with it.',
    ],
  })
  expect(rateOf(0) / rateOf(2)).toBeLessThan(1.5)
}, 900_000)
