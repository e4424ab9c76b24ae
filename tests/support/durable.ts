import { onTestFinished } from 'vitest'
import type { Disk } from '#worker/persistence/disk.ts'
import type { Sqlite } from '#worker/persistence/load-sqlite.ts'
import {
  openDurableDatabase,
  type DurableDatabase,
  type OpenOptions,
} from '#worker/persistence/open-durable-database.ts'
import { SimulatedDisk, type SimulatedPlatters } from './simulated-disk.ts'
import { sqliteForTests } from './sqlite-for-tests.ts'

/** Timers that only fire when told to. */
export function createManualTimers() {
  const waiting = new Set<() => void>()
  return {
    after: (_ms: number, wake: () => void) => {
      waiting.add(wake)
      return () => void waiting.delete(wake)
    },
    fire: () => {
      const due = [...waiting]
      waiting.clear()
      for (const wake of due) wake()
    },
    get count() {
      return waiting.size
    },
  }
}

export interface OpenedForTest extends DurableDatabase {
  disk: SimulatedDisk
  timers: ReturnType<typeof createManualTimers>
}

type Options = Partial<Omit<OpenOptions, 'disk' | 'sqlite'>> & { sqlite?: Sqlite; disk?: SimulatedDisk }

export async function openForTest(platters: SimulatedPlatters, options: Options = {}): Promise<OpenedForTest> {
  const { sqlite, disk = new SimulatedDisk(platters), ...rest } = options
  const timers = createManualTimers()
  const opened = await openDurableDatabase({
    disk,
    sqlite: sqlite ?? (await sqliteForTests()),
    now: () => 0,
    after: timers.after,
    gatherMs: 0,
    ...rest,
  })
  if (!opened.ok) throw new Error(`Opening was refused: ${JSON.stringify(opened.error)}`)
  onTestFinished(() => opened.value.close())
  return Object.assign(opened.value, { disk, timers })
}

/** For property tests, where one test opens many: the caller closes. */
export async function openBriefly<T>(
  disk: Disk,
  use: (opened: DurableDatabase) => T | Promise<T>,
  options: Partial<OpenOptions> = {},
): Promise<T> {
  const opened = await openDurableDatabase({
    disk,
    sqlite: await sqliteForTests(),
    now: () => 0,
    after: createManualTimers().after,
    gatherMs: 0,
    ...options,
  })
  if (!opened.ok) throw new Error(`Opening was refused: ${JSON.stringify(opened.error)}`)
  try {
    return await use(opened.value)
  } finally {
    opened.value.close()
  }
}

/** Lets everything that needs no timer happen. */
export const settle = async (turns = 200): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve()
}
