import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import type { Effect } from '#worker/tools/demo/ledger.ts'
import { createTools } from '#worker/tools/registry.ts'
import { openTestStore } from './open-test-store.ts'
import { loadQuickjsWasm } from './quickjs-wasm.ts'
import { createSeededRandom } from './seeded-random.ts'
import { createToolKit } from './tool-kit.ts'
import { upkeepPorts } from './upkeep-ports.ts'

export interface DemoEngine {
  engine: Engine
  /** Rows of the real database. */
  rows(sql: string): Record<string, unknown>[]
  /** The first column of the first row. */
  value(sql: string): unknown
  /** What has happened to the demo world. */
  effects(): Promise<Effect[]>
  /** Lets time pass in steps that are short enough for every schedule. */
  pass(minutes: number): Promise<void>
}

/** The real engine with the real tools, in a demo world where thirty mails have come and no more will. */
export async function openDemoEngine(): Promise<DemoEngine> {
  const kit = createToolKit()
  const { clock } = kit
  const tools = createTools({ ...kit, demo: { ...kit.demo, traffic: { everyMs: 0, initial: 30 } } })
  const { store, database } = await openTestStore()
  const random = createSeededRandom(1)
  const engine = createEngine({
    store,
    clock,
    ids: createMonotonicIds(clock, () => random.next(), null),
    // An own one each: a sandbox keeps code by script id, and every world here gives out the same ids.
    sandbox: await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript }),
    tools,
    durability: { barrier: () => Promise.resolve(), flushSoon: () => undefined, isAccepting: () => true },
    crash: { reach: () => undefined },
    ...upkeepPorts(database),
  })
  engine.start()
  return {
    engine,
    rows: (sql) => database.all(sql),
    value: (sql) => Object.values(database.get(sql) ?? {})[0],
    effects: async () => (await tools.demo.snapshot()).effects,
    pass: async (minutes) => {
      for (let step = 0; step < minutes * 2; step += 1) {
        clock.advance(30_000)
        await engine.idle()
      }
    },
  }
}
