import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import type { Clock } from '#engine/ports/clock.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import type { Store } from '#engine/ports/store.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { createSqliteStore } from '#worker/sqlite/store.ts'
import { type AheadSandbox, answeringAhead } from '../ahead-sandbox.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { Disk } from './disk.ts'
import {
  type Life,
  mortalClock,
  mortalCrashPoints,
  mortalDurability,
  mortalStore,
  mortalTools,
} from './mortal-ports.ts'
import type { OutsideWorld } from './outside-world.ts'
import { upkeepPorts } from '../upkeep-ports.ts'

export interface Tab {
  engine: Engine
  store: Store
  database: Database
  life: Life
  close(): void
}

export interface TabParts {
  disk: Disk
  clock: Clock
  world: OutsideWorld
  /** One that runs ahead has its results at hand when a mutation is answered. */
  sandbox: Sandbox | AheadSandbox
  life: Life
  random: SeededRandom
  /** Lets scripts and jitter fail no more, so that everything can come to an end. */
  isCalm: () => boolean
  /** For planting bugs: the simulator must be able to catch them. */
  sabotage?: (ports: Parameters<typeof createEngine>[0]) => Parameters<typeof createEngine>[0]
}

/** Opens the real store over what is on disk, and the real engine over mortal ports. */
export const openTab = (parts: TabParts): Tab => {
  const { disk, clock, world, sandbox, life, random, isCalm } = parts
  const database = disk.open()
  const store = createSqliteStore(database)
  const ids = createMonotonicIds(clock, () => random.next(), greatestId(database))
  const ports = {
    // A background flush may have come as far as any commit when the tab dies.
    store: mortalStore(store, life, () => {
      if (random.chance(0.1)) disk.flush()
    }),
    clock: mortalClock(clock, life),
    ids: { ...ids, random: () => (isCalm() ? 0.999 : random.next()) },
    sandbox,
    tools: mortalTools(isRunningAhead(sandbox) ? answeringAhead(world.tools, sandbox) : world.tools, life),
    durability: mortalDurability(life, disk.flush),
    crash: mortalCrashPoints(life),
    ...upkeepPorts(database),
  }
  return {
    engine: createEngine(parts.sabotage?.(ports) ?? ports),
    store,
    database,
    life,
    close: () => {
      life.kill()
      disk.lose()
    },
  }
}

const isRunningAhead = (sandbox: Sandbox | AheadSandbox): sandbox is AheadSandbox => 'runAhead' in sandbox

const greatestId = (database: Database): string | null => {
  const row = database.get(
    `SELECT max(id) AS id FROM (
       SELECT max(substr(id, -26)) AS id FROM events UNION ALL SELECT max(substr(id, -26)) FROM handler_runs
       UNION ALL SELECT max(substr(id, -26)) FROM script_runs UNION ALL SELECT max(substr(id, -26)) FROM scripts)`,
  )
  return typeof row?.['id'] === 'string' ? row['id'] : null
}
