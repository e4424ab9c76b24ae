import type { Sandbox } from '#engine/ports/sandbox.ts'
import type { Tools } from '#engine/ports/tools.ts'
import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { greatestId } from '#worker/sqlite/greatest-id.ts'
import { createSystemClock } from '#worker/system-clock.ts'
import { openTestStore, type TestStore } from './open-test-store.ts'
import { upkeepPorts } from './upkeep-ports.ts'
import { withNoop } from './workloads.ts'

const noTools: Tools = { find: () => undefined, list: () => [], covers: () => true }

/** The engine with a real clock and a real sandbox, and a store that is nowhere but in memory. Started. */
export const openNodeEngine = async (sandbox: Sandbox, bytes?: Uint8Array): Promise<TestStore & { engine: Engine }> => {
  const opened = await openTestStore(bytes)
  const clock = createSystemClock()
  const engine = createEngine({
    store: opened.store,
    clock,
    ids: createMonotonicIds(clock, Math.random, greatestId(opened.database)),
    sandbox,
    tools: withNoop(noTools),
    durability: { barrier: () => Promise.resolve(), flushSoon: () => undefined, isAccepting: () => true },
    crash: { reach: () => undefined },
    ...upkeepPorts(opened.database),
  })
  engine.start()
  return { ...opened, engine }
}
