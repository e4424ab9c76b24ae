import { expect, test } from 'vitest'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandboxPool } from '#worker/sandbox/create-sandbox-pool.ts'
import { median, writeResult } from '../support/bench-results.ts'
import { openEnginePage } from '../support/engine-page.ts'
import { openNodeEngine } from '../support/node-engine.ts'
import { prepareNodeThreads } from '../support/node-threads.ts'
import { loadQuickjsWasm } from '../support/quickjs-wasm.ts'
import { carryAll, deployCarriers } from '../support/workloads.ts'

const ROUNDS = 5
const EVENTS = 1_200

const inBrowser = async (logIn: 'files' | 'database') => {
  const { page, close } = await openEnginePage('throughput', { logIn })
  const one = await page.evaluate((events) => globalThis.measured.deploy(1, events), EVENTS)
  const eight = await page.evaluate((events) => globalThis.measured.deploy(8, events), EVENTS)
  return {
    one: () => page.evaluate((deployed) => globalThis.measured.carry(deployed), one),
    eight: () => page.evaluate((deployed) => globalThis.measured.carry(deployed), eight),
    consumed: async () => {
      const rows = await page.evaluate(() =>
        globalThis.measured.rows("SELECT count(*) AS n FROM events WHERE status = 'consumed'"),
      )
      return rows[0]?.['n']
    },
    close,
  }
}

const inNode = async () => {
  const threads = await prepareNodeThreads()
  const pool = createSandboxPool({ wasm: await loadQuickjsWasm(), compile: compileScript, spawn: threads.spawn })
  const { engine, database } = await openNodeEngine(pool)
  const one = await deployCarriers(engine, 1, EVENTS)
  const eight = await deployCarriers(engine, 8, EVENTS)
  return {
    one: () => carryAll(engine, one),
    eight: () => carryAll(engine, eight),
    consumed: () => Promise.resolve(database.get("SELECT count(*) AS n FROM events WHERE status = 'consumed'")?.['n']),
    close: async () => {
      engine.stop()
      pool.close()
      await threads.remove()
    },
  }
}

test('W1: every event goes through prepare, mutate and next with all its checkpoints', async () => {
  const browser = await inBrowser('files')
  const plain = await inBrowser('database')
  const node = await inNode()
  const perSecond = { browserOne: [0], plainOne: [0], browserEight: [0], plainEight: [0], nodeOne: [0], nodeEight: [0] }
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      const times = {
        browserOne: await browser.one(),
        plainOne: await plain.one(),
        nodeOne: await node.one(),
        browserEight: await browser.eight(),
        plainEight: await plain.eight(),
        nodeEight: await node.eight(),
      }
      for (const key of ['browserOne', 'plainOne', 'browserEight', 'plainEight', 'nodeOne', 'nodeEight'] as const) {
        perSecond[key][round - 1] = (EVENTS / times[key]) * 1000
      }
    }
    const carried = (ROUNDS + 1) * 2 * EVENTS
    expect(await browser.consumed()).toBe(carried)
    expect(await plain.consumed()).toBe(carried)
    expect(await node.consumed()).toBe(carried)
  } finally {
    await browser.close()
    await plain.close()
    await node.close()
  }
  await writeResult('throughput', {
    workload: 'W1',
    title: 'Throughput',
    tables: [
      {
        title: 'Events carried through prepare → mutate → next',
        unit: 'events/s',
        better: 'higher',
        reference: 'Chromium, one workflow',
        series: [
          { name: 'Chromium, one workflow', values: perSecond.browserOne },
          { name: 'Chromium, spread over 8 workflows', values: perSecond.browserEight },
          { name: 'Chromium, log in IndexedDB, one workflow', values: perSecond.plainOne },
          { name: 'Chromium, log in IndexedDB, spread over 8', values: perSecond.plainEight },
          { name: 'Node, store in memory, one workflow', values: perSecond.nodeOne },
          { name: 'Node, store in memory, spread over 8', values: perSecond.nodeEight },
        ],
      },
    ],
    checks: [
      {
        promise: 'Spread over 8 workflows, against one',
        measured: median(perSecond.browserEight) / median(perSecond.browserOne),
        atLeast: 1,
      },
    ],
    notes: [
      'Chromium: the real engine in its worker, QuickJS in threads, storage as shipped: the log in files of the origin’s private file system, which are relied on two minutes after they were made, and until then, or where a browser cannot share them, in IndexedDB. Here they are relied on at once. Each event has its own handler run with all its checkpoints, and its mutation starts only after `in_flight` was synced to the disk.',
      'Node: the same engine and sandboxes without a disk.',
    ],
  })
  expect(median(perSecond.browserEight) / median(perSecond.browserOne)).toBeGreaterThan(1)
}, 600_000)
