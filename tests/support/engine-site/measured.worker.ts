import { expose } from 'comlink'
import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import { startChangeFeed } from '#worker/change-feed.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { IndexedDbDisk } from '#worker/persistence/indexed-db-disk.ts'
import { openDisk } from '#worker/persistence/open-disk.ts'
import { createAfterOthers } from '#worker/persistence/after-others.ts'
import { openDurableDatabase, type DurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { openSandbox } from '#worker/sandbox/open-sandbox.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { greatestId } from '#worker/sqlite/greatest-id.ts'
import { useConnection } from '#worker/sqlite/open-database.ts'
import { createSqliteStore } from '#worker/sqlite/store.ts'
import { createSystemClock } from '#worker/system-clock.ts'
import type { DemoWorld } from '#worker/tools/demo/world.ts'
import { openTools } from '#worker/tools/open-tools.ts'
import { addFinishedEvents } from '../big-database.ts'
import { sqliteInBrowser } from '../durability-site/open-in-browser.ts'
import { upkeepPorts } from '../upkeep-ports.ts'
import { openStepFile, tracingSteps } from '../step-traces.ts'
import {
  carryAll,
  deployCarriers,
  deployTimed,
  latencies,
  leaveATrace,
  wakeDelays,
  withNoop,
  type Deployed,
} from '../workloads.ts'

/** Where the log goes: as in the application, or all of it to IndexedDB as where files cannot be shared. */
export type LogIn = 'files' | 'database'

export interface HowToOpen {
  logIn?: LogIn
  /** Each step that is made leaves a line in a file, which outlives a kill: what is made twice is there twice. */
  tracesSteps?: boolean
}

interface Opened {
  engine: Engine
  database: Database
  durable: DurableDatabase
  demo: DemoWorld
}

const AGED_AT_ONCE = 50_000
const LITTLE_COMMITS = 20

let opened: Opened | undefined

const here = (): Opened => {
  if (opened === undefined) throw new Error('Open it first.')
  return opened
}

/** As src/worker/open-engine.ts puts it together, with one tool more, and everything in reach. */
const open = async (name: string, { logIn = 'files', tracesSteps = false }: HowToOpen): Promise<Opened> => {
  // Files are relied on as they are in any installation that is older than two minutes.
  const disk = logIn === 'files' ? openDisk(name, { ripeAfterMs: 0 }) : new IndexedDbDisk(name, indexedDB)
  const found = await openDurableDatabase({
    disk,
    sqlite: await sqliteInBrowser(),
    afterOthers: createAfterOthers(),
  })
  if (!found.ok) throw new Error(JSON.stringify(found.error))
  const durable = found.value
  const used = useConnection(durable.database)
  if (!used.ok) throw new Error(used.error.message)
  const database = used.value
  database.onCommit(durable.noteCommit)
  durable.noteCommit()
  const clock = createSystemClock()
  const { tools } = openTools({ clock, databaseName: name })
  const sandbox = await openSandbox()
  const engine = createEngine({
    store: createSqliteStore(database),
    clock,
    ids: createMonotonicIds(clock, Math.random, greatestId(database)),
    sandbox: tracesSteps ? tracingSteps(sandbox, (await openStepFile()).note) : sandbox,
    tools: withNoop(tools),
    durability: durable.durability,
    crash: { reach: () => undefined },
    ...upkeepPorts(database),
  })
  startChangeFeed(database)
  engine.start()
  return { engine, database, durable, demo: tools.demo }
}

/** What the platform takes for making 4 KiB durable: the measure for everything that waits for the disk. */
const rawStrictPuts = async (count: number): Promise<number[]> => {
  const request = indexedDB.open('raw-puts', 1)
  request.onupgradeneeded = () => request.result.createObjectStore('records')
  const raw = await new Promise<IDBDatabase>((resolve) => (request.onsuccess = () => resolve(request.result)))
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const value = crypto.getRandomValues(new Uint8Array(4096)).buffer
    const start = performance.now()
    await new Promise<void>((resolve) => {
      const transaction = raw.transaction(['records'], 'readwrite', { durability: 'strict' })
      transaction.oncomplete = () => resolve()
      transaction.objectStore('records').put(value, n)
    })
    times.push(performance.now() - start)
  }
  raw.close()
  return times
}

/** Resolves when the event of this name is consumed, and that is on the disk. It is the newest: looking for it costs nothing. */
const committedOnDisk = async (messageId: string): Promise<void> => {
  const { database, durable } = here()
  await new Promise<void>((resolve) => {
    const stop = database.onCommit((tables) => {
      if (!tables.has('events')) return
      const newest = database.get('SELECT message_id, status FROM events ORDER BY id DESC LIMIT 1')
      if (newest?.['message_id'] !== messageId || newest['status'] !== 'consumed') return
      stop()
      resolve()
    })
  })
  await durable.durability.barrier()
}

const api = {
  /** Milliseconds from nothing to an engine that runs, after a start that was not the first of this worker. */
  async open(name: string, how: HowToOpen = {}): Promise<number> {
    const start = performance.now()
    opened = await open(name, how)
    return performance.now() - start
  },
  deploy: (workflows: number, events: number): Promise<Deployed> => deployCarriers(here().engine, workflows, events),
  carry: (deployed: Deployed): Promise<number> => carryAll(here().engine, deployed),
  /**
   * Gives a workflow a past. In parts: each is captured, written and dropped before the next. What was written so fast is still
   * being folded: little commits until that has ended, as it would have if it had come by and by.
   */
  async age(workflowId: string, events: number): Promise<void> {
    const { database, durable } = here()
    for (let from = 0; from < events; from += AGED_AT_ONCE) {
      addFinishedEvents(database, workflowId, Math.min(AGED_AT_ONCE, events - from), from)
      await durable.durability.barrier()
    }
    for (let folded = -1; folded !== durable.stats().extentBytes;) {
      folded = durable.stats().extentBytes
      for (let n = 0; n < LITTLE_COMMITS; n += 1) {
        database.transaction(() =>
          database.run('UPDATE workflows SET updated_at = updated_at WHERE id = ?', [workflowId]),
        )
        await durable.durability.barrier()
      }
    }
  },
  /** Milliseconds from publishing one event to its commit. */
  async step(workflowId: string, messageId: string): Promise<number> {
    const start = performance.now()
    const published = await here().engine.publishEvent(workflowId, 'item', { messageId, payload: { n: 0 } })
    if (!published.ok) throw new Error(published.error.message)
    await here().engine.whenQuiet()
    return performance.now() - start
  },
  latency: (events: number): Promise<number[]> => latencies(here().engine, events, committedOnDisk),
  deployTimed: (workflows: number): Promise<void> => deployTimed(here().engine, workflows),
  async wakeDelays(forMs: number): Promise<number[]> {
    const since = Date.now()
    await new Promise((resolve) => setTimeout(resolve, forMs))
    return wakeDelays((sql) => here().database.all(sql), since)
  },
  /** Events whose mutation leaves a trace in the demo world, which does not recognise repetitions. */
  async deployTracing(workflows: number, events: number): Promise<Deployed> {
    await here().demo.setKnobs({ latencyMs: 0, ignoreKeys: true })
    return deployCarriers(here().engine, workflows, events, leaveATrace)
  },
  /** Sets off and does not wait. */
  async setOff({ workflowIds }: Deployed): Promise<void> {
    for (const id of workflowIds) await here().engine.runWorkflow(id)
  },
  idle: () => here().engine.idle(),
  traces: async (): Promise<string[]> =>
    ((await here().demo.snapshot()).sheets['traces'] ?? []).map(({ values }) => JSON.stringify(values['n'])),
  /** Of this life and the ones before it. */
  steps: async (): Promise<string[]> => (await openStepFile()).read(),
  recovery: () => here().engine.info().lastRecovery,
  rawStrictPuts: (count: number): Promise<number[]> => rawStrictPuts(count),
  stats: () => here().durable.stats(),
  rows: (sql: string) => here().database.all(sql),
}

export type MeasuredApi = typeof api
expose(api)
