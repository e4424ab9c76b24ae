import type { Effect } from '#worker/tools/demo/ledger.ts'
import { createTools } from '#worker/tools/registry.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'
import { createToolKit } from './tool-kit.ts'

export interface DemoEngine extends TestEngine {
  /** What has happened to the demo world. */
  effects(): Promise<Effect[]>
  /** Lets time pass in steps that are short enough for every schedule. */
  pass(minutes: number): Promise<void>
}

/** The real engine with the real tools, in a demo world where thirty mails have come and no more will. */
export async function openDemoEngine(): Promise<DemoEngine> {
  const kit = createToolKit()
  const tools = createTools({ ...kit, demo: { ...kit.demo, traffic: { everyMs: 0, initial: 30 } } })
  const world = await openTestEngine({}, { clock: kit.clock, tools })
  return Object.assign(world, {
    effects: async () => (await tools.demo.snapshot()).effects,
    pass: async (minutes: number) => {
      for (let step = 0; step < minutes * 2; step += 1) {
        kit.clock.advance(30_000)
        await world.settle()
      }
    },
  })
}
