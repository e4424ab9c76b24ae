import { engineError, type EngineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { createEngine } from '#engine/runtime/engine.ts'
import type { EngineApi } from './api.ts'
import { answerable } from './answerable.ts'
import { startChangeFeed } from './change-feed.ts'
import { createEngineApi } from './engine-api.ts'
import { gzip } from './gzip.ts'
import { createMonotonicIds } from './monotonic-ids.ts'
import { createPageBridge } from './page-bridge.ts'
import { openDisk } from './persistence/open-disk.ts'
import { createAfterOthers } from './persistence/after-others.ts'
import { createFolderBackup } from './persistence/folder-backup.ts'
import { openDurableDatabase, type OpenTrouble } from './persistence/open-durable-database.ts'
import { refusalInWords } from './persistence/storage-state.ts'
import { openStrictSettings } from './persistence/strict-settings.ts'
import { openSandbox } from './sandbox/open-sandbox.ts'
import { createFileSpace } from './sqlite/file-space.ts'
import { greatestId } from './sqlite/greatest-id.ts'
import { useConnection } from './sqlite/open-database.ts'
import { createSqliteStore } from './sqlite/store.ts'
import { sqliteHere } from './sqlite-here.ts'
import { createSystemClock } from './system-clock.ts'
import { openTools } from './tools/open-tools.ts'

/** Of the database in IndexedDB, and of everything tabs share. */
export const DATABASE_NAME = 'holdfast'

/** Longer than a check of the largest file takes. */
const LONGEST_WORK_MS = 60_000
const BACKUP_EVERY_MS = 60 * 60_000

export interface OpenEngine {
  api: EngineApi
  /** Stops at once and lets go of everything; what was committed and not yet flushed is gone with it. */
  close(): void
}

export interface EngineEvents {
  /** Another tab has taken over the data: this engine must stop and let go. */
  onFenced(): void
  /** The stored database was replaced by another: this engine is closed and has to be opened anew. */
  onReplaced(): void
  /** Nothing else can happen in this tab for so long; 0 when it is over. */
  announceWork(forMs: number): void
}

/** The composition root: the only place that knows every adapter. Never rejects, so that no caller hangs on a bad start. */
export async function openEngine(events: EngineEvents): Promise<Result<OpenEngine>> {
  try {
    return await compose(events)
  } catch (cause) {
    return err(engineError('storage', `The engine could not be opened: ${String(cause)}`))
  }
}

async function compose({ onFenced, onReplaced, announceWork }: EngineEvents): Promise<Result<OpenEngine>> {
  const told = { look: (): void => undefined, tellAll: (): void => undefined, last: 'ok' }
  const sqlite = await sqliteHere()
  const opened = await openDurableDatabase({
    disk: openDisk(DATABASE_NAME),
    afterOthers: createAfterOthers(),
    sqlite,
    onState: ({ kind }) => {
      if (kind === 'fenced') onFenced()
      // Trouble that has passed is a reason to look for work again.
      if (kind === 'ok') told.look()
      // Trouble that stays is met again with each attempt.
      if (kind !== told.last) told.tellAll()
      told.last = kind
    },
  })
  if (!opened.ok) return err(troubleToError(opened.error))
  const durable = opened.value
  const used = useConnection(durable.database)
  if (!used.ok) {
    durable.close()
    return used
  }
  const database = used.value
  database.onCommit(durable.noteCommit)
  durable.noteCommit()

  const atLength = <T>(work: () => T): T => {
    announceWork(LONGEST_WORK_MS)
    try {
      return work()
    } finally {
      announceWork(0)
    }
  }
  const clock = createSystemClock()
  const page = createPageBridge()
  const clipboard = { writeText: page.writeClipboard }
  const outside = openTools({
    clock,
    databaseName: DATABASE_NAME,
    clipboard,
    showNotification: page.showNotification,
    openRun: page.openRun,
  })
  const sandbox = await openSandbox()
  const engine = createEngine({
    store: createSqliteStore(database),
    clock,
    ids: createMonotonicIds(clock, Math.random, greatestId(database)),
    sandbox,
    tools: outside.tools,
    durability: durable.durability,
    crash: { reach: () => undefined },
    compression: gzip,
    space: createFileSpace(database, durable.durability, durable.noteCommit, atLength),
  })
  const changes = startChangeFeed(database)
  told.tellAll = changes.tellAll
  engine.start()
  told.look = engine.look
  const backup = createFolderBackup({
    settings: openStrictSettings(`${DATABASE_NAME}-backup`, indexedDB),
    image: durable.image,
    now: clock.now,
  })
  const backupTimer = setInterval(() => void backup.backUp(), BACKUP_EVERY_MS)
  let isReplaced = false
  const onReplacing = (): void => {
    isReplaced = true
  }
  const backupParts = { sqlJs: sqlite.sqlJs, backup, onReplacing, onReplaced }
  const api = createEngineApi({ engine, database, durable, outside, clock, sandbox, atLength, backup: backupParts })
  let isClosed = false
  return ok({
    api: answerable(api, () => isReplaced),
    close: () => {
      if (isClosed) return
      isClosed = true
      clearInterval(backupTimer)
      engine.stop()
      changes.stop()
      page.close()
      sandbox.close()
      durable.close()
    },
  })
}

const troubleToError = (trouble: OpenTrouble): EngineError => {
  if (trouble.kind !== 'storage') return engineError('storage', trouble.message)
  const { kind } = trouble.state
  return engineError('storage', kind === 'ok' ? 'The storage did not open.' : refusalInWords[kind])
}
