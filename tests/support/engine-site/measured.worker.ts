import { expose } from 'comlink'
import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import { startChangeFeed } from '#worker/change-feed.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { IndexedDbDisk } from '#worker/persistence/indexed-db-disk.ts'
import { openDurableDatabase, type DurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { openSandbox } from '#worker/sandbox/open-sandbox.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { greatestId } from '#worker/sqlite/greatest-id.ts'
import { useConnection } from '#worker/sqlite/open-database.ts'
import { createSqliteStore } from '#worker/sqlite/store.ts'
import { createSystemClock } from '#worker/system-clock.ts'
import { openTools } from '#worker/tools/open-tools.ts'
import { sqliteInBrowser } from '../durability-site/open-in-browser.ts'
import { carryAll, deployCarriers, withNoop, type Deployed } from '../workloads.ts'
import { upkeepPorts } from '../upkeep-ports.ts'

interface Opened {
  engine: Engine
  database: Database
  durable: DurableDatabase
}

let opened: Opened | undefined

const here = (): Opened => {
  if (opened === undefined) throw new Error('Open it first.')
  return opened
}

/** As src/worker/open-engine.ts puts it together, with one tool more, and everything in reach. */
const open = async (name: string): Promise<Opened> => {
  const found = await openDurableDatabase({ disk: new IndexedDbDisk(name, indexedDB), sqlite: await sqliteInBrowser() })
  if (!found.ok) throw new Error(JSON.stringify(found.error))
  const durable = found.value
  const used = useConnection(durable.database)
  if (!used.ok) throw new Error(used.error.message)
  const database = used.value
  database.onCommit(durable.noteCommit)
  durable.noteCommit()
  const clock = createSystemClock()
  const engine = createEngine({
    store: createSqliteStore(database),
    clock,
    ids: createMonotonicIds(clock, Math.random, greatestId(database)),
    sandbox: await openSandbox(),
    tools: withNoop(openTools({ clock, databaseName: name }).tools),
    durability: durable.durability,
    crash: { reach: () => undefined },
    ...upkeepPorts(database),
  })
  startChangeFeed(database)
  engine.start()
  return { engine, database, durable }
}

const api = {
  async open(name: string): Promise<void> {
    opened = await open(name)
  },
  deploy: (workflows: number, events: number): Promise<Deployed> => deployCarriers(here().engine, workflows, events),
  carry: (deployed: Deployed): Promise<number> => carryAll(here().engine, deployed),
  stats: () => here().durable.stats(),
  rows: (sql: string) => here().database.all(sql),
}

export type MeasuredApi = typeof api
expose(api)
