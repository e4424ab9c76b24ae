import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { Clock } from '#engine/ports/clock.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import type { EngineApi, EngineState, StorageInfo } from './api.ts'
import { createBackupApi, type BackupParts } from './backup-api.ts'
import { createScriptCheck } from './check-script.ts'
import { createSessionCheck } from './check-session.ts'
import type { DurableDatabase } from './persistence/open-durable-database.ts'
import type { Database } from './sqlite/database.ts'
import { readSchema } from './sqlite/schema.ts'
import { askDatabase, askForTable } from './sqlite/sql-console.ts'
import { createOutsideApi } from './outside-api.ts'
import { createRetentionApi } from './retention-api.ts'
import { createSessionApi } from './session-api.ts'
import type { OpenTools } from './tools/open-tools.ts'
import { measureTables } from './sqlite/table-sizes.ts'
import { createSqliteStore } from './sqlite/store.ts'
import { createTestInput } from './test-input.ts'
import { createTestRun } from './test-run.ts'
import { version } from './version.ts'
import { createViews } from './views.ts'

export interface EngineApiParts {
  engine: Engine
  database: Database
  durable: DurableDatabase
  outside: OpenTools
  clock: Clock
  sandbox: Sandbox
  /** For what may keep this thread busy: the other tabs must not take the silence for a frozen tab. */
  atLength: <T>(work: () => T) => T
  backup: Omit<BackupParts, 'engine' | 'durable' | 'atLength'>
}

/** More than anybody reads; a backup and another program are for more. */
const MOST_ROWS = 10_000

/** The public API over the open engine. Nothing here decides anything: it only puts each answer into its shape. */
export function createEngineApi(parts: EngineApiParts): EngineApi {
  const { engine, database, durable, outside, clock, sandbox, atLength, backup } = parts
  const backupParts = { engine, durable, atLength, ...backup }
  const store = createSqliteStore(database)
  const { listWorkflows, viewWorkflow } = engine
  const views = createViews({ database, store, listWorkflows, viewWorkflow, now: () => Date.now() })
  const sqliteVersion = String(database.get('SELECT sqlite_version() AS version')?.['version'])

  const state = (): EngineState => {
    const { kind } = durable.storage()
    if (kind === 'full') return 'storage_full'
    if (kind !== 'ok') return 'storage_lost'
    const { state: engineState } = engine.info()
    return engineState === 'opened' ? 'stopped' : engineState
  }

  return {
    deployWorkflow: engine.deployWorkflow,
    checkScript: createScriptCheck(sandbox),
    testRun: createTestRun({ sqlJs: backup.sqlJs, store, clock, sandbox, tools: outside.tools }),
    getTestInput: createTestInput({ store, listEvents: views.listEvents }),
    checkSession: createSessionCheck(sandbox),
    listWorkflows: (options) => answer(() => engine.listWorkflows(options)),
    pauseWorkflow: engine.pauseWorkflow,
    resumeWorkflow: engine.resumeWorkflow,
    archiveWorkflow: engine.archiveWorkflow,
    restoreWorkflow: engine.restoreWorkflow,
    deleteWorkflow: engine.deleteWorkflow,
    runWorkflow: engine.runWorkflow,
    publishEvent: engine.publishEvent,
    changeWorkflow: engine.changeWorkflow,
    skipEvents: engine.skipEvents,
    cancelRun: engine.cancelRun,
    getRun: (runId) => Promise.resolve(engine.getRun(runId)),
    listEscalations: (filter) => Promise.resolve(engine.listEscalations(filter)),
    resolveEscalation: engine.resolveEscalation,
    sql: (query, params) => Promise.resolve(atLength(() => askDatabase(database, query, params))),
    storage: async () => ok(await readStorage(durable)),
    engineInfo: () =>
      answer(() => {
        const { lastRecovery, undone, nextWakeAt, lastLookAt } = engine.info()
        const { epoch } = durable
        const { lastFlushAt } = durable.stats()
        const past = { lastRecovery, undone, nextWakeAt, lastLookAt, lastFlushAt }
        return { version, role: 'leader', state: state(), epoch, ...past, sqliteVersion }
      }),
    idle: ({ timeoutMs } = {}) => withTimeout(engine.idle(), timeoutMs),
    wake: () =>
      answer(() => {
        engine.look()
        return null
      }),
    ...createOutsideApi(outside),
    ...createBackupApi(backupParts),
    ...views,
    ...createSessionApi(engine),
    getPreferences: () => answer(engine.getPreferences),
    setPreferences: engine.setPreferences,
    getTableSizes: () => answer(() => durable.readImage((file) => measureTables(database, file))),
    getSchema: () => answer(() => readSchema(database)),
    getQueryTable: (query, { limit = MOST_ROWS } = {}) =>
      Promise.resolve(atLength(() => askForTable(database, query, Math.min(limit, MOST_ROWS)))),
    listSavedQueries: () => answer(engine.listSavedQueries),
    saveQuery: engine.saveQuery,
    removeQuery: engine.removeQuery,
    ...createRetentionApi(engine),
  }
}

const answer = <T>(read: () => T): Promise<Result<T>> => Promise.resolve(ok(read()))

async function withTimeout(work: Promise<void>, timeoutMs: number | undefined): Promise<Result<null>> {
  if (timeoutMs === undefined) return work.then(() => ok(null))
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<Result<null>>((resolve) => {
    timer = setTimeout(() => resolve(err(engineError('internal', `Not idle after ${timeoutMs} ms.`))), timeoutMs)
  })
  const done = await Promise.race([work.then(() => ok(null)), late])
  clearTimeout(timer)
  return done
}

async function readStorage(durable: DurableDatabase): Promise<StorageInfo> {
  const { fileBytes, logBytes, wasRestored } = durable.stats()
  const { usage, quota } = await navigator.storage.estimate()
  const state = durable.storage()
  return {
    databaseBytes: fileBytes,
    logBytes,
    usageBytes: usage ?? null,
    quotaBytes: quota ?? null,
    isPersisted: await navigator.storage.persisted(),
    replacedAt: durable.replacedAt(),
    wasRestored,
    trouble: state.kind === 'ok' ? null : state,
  }
}
