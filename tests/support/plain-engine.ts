import type { Tools } from '#engine/ports/tools.ts'
import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import type { EngineOptions } from '#engine/runtime/ports.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'
import { createInProcessSandbox } from './in-process-sandbox.ts'
import { openTestStore, type TestStore } from './open-test-store.ts'
import { createSeededRandom } from './seeded-random.ts'
import { upkeepPorts } from './upkeep-ports.ts'

export interface PlainEngine extends TestStore {
  engine: Engine
  clock: HandClock
}

const noTools: Tools = { find: () => undefined, list: () => [], covers: () => true }
const sandbox = createInProcessSandbox()

/** The engine over the real store, with trusted scripts in this process: for many workflows or much time. Not started yet. */
export const openPlainEngine = async (
  parts: { clock?: HandClock; tools?: Tools; bytes?: Uint8Array; options?: Partial<EngineOptions> } = {},
): Promise<PlainEngine> => {
  const clock = parts.clock ?? createHandClock()
  const opened = await openTestStore(parts.bytes)
  const random = createSeededRandom(1)
  const greatest = opened.database.get(`SELECT max(substr(id, -26)) AS id FROM handler_runs`)?.['id']
  const engine = createEngine(
    {
      store: opened.store,
      clock,
      ids: createMonotonicIds(clock, () => random.next(), typeof greatest === 'string' ? greatest : null),
      sandbox,
      tools: parts.tools ?? noTools,
      durability: { barrier: () => Promise.resolve(), flushSoon: () => undefined, isAccepting: () => true },
      crash: { reach: () => undefined },
      ...upkeepPorts(opened.database),
    },
    parts.options,
  )
  return { ...opened, engine, clock }
}
