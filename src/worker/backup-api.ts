import type { SqlJsStatic } from 'sql.js'
import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import type { EngineApi } from './api.ts'
import { checkImport } from './persistence/check-import.ts'
import type { FolderBackup } from './persistence/folder-backup.ts'
import type { DurableDatabase } from './persistence/open-durable-database.ts'
import type { StorageState } from './persistence/storage-state.ts'

export interface BackupParts {
  engine: Engine
  durable: DurableDatabase
  sqlJs: SqlJsStatic
  backup: FolderBackup
  atLength: <T>(work: () => T) => T
  /** From here on nothing can be asked of this engine any more. */
  onReplacing(): void
  /** The stored database is another one now: everything has to be opened anew. */
  onReplaced(): void
}

type BackupApi = Pick<
  EngineApi,
  | 'exportDatabase'
  | 'checkImport'
  | 'importDatabase'
  | 'undoImport'
  | 'startAnew'
  | 'keepImport'
  | 'backupStatus'
  | 'chooseBackupFolder'
  | 'getBackupFolder'
  | 'backUpNow'
>

/** Long enough for the answer to leave before the engine that gives it is closed. */
const ANSWER_FIRST_MS = 50
/** A handler that does not come to its end by then keeps its database. */
const QUIET_WITHIN_MS = 60_000

/** The one file the user owns: out, in, back again, and into a folder by itself. */
export function createBackupApi(parts: BackupParts): BackupApi {
  const { engine, durable, sqlJs, backup, atLength, onReplacing, onReplaced } = parts
  const check = (bytes: unknown) => atLength(() => checkImport(sqlJs, bytes))

  /** What is only in memory would be lost with the engine that is closed for it. */
  const refused = () => err(engineError('storage', `${inWords(durable.storage())} Nothing was replaced.`))

  /** Nothing may be under way while the ground is exchanged: a mutation in flight must get its outcome recorded first. */
  const replace = async (work: () => Promise<Result<void, StorageState>>): Promise<Result<null>> => {
    if (!durable.durability.isAccepting()) return refused()
    engine.stop()
    if (!(await isQuietSoon(engine))) {
      engine.resume()
      return err(
        engineError('run_active', 'A handler is still running. Try again when it has finished. Nothing was changed.'),
      )
    }
    if (!(await isSaved(durable))) {
      engine.resume()
      return refused()
    }
    onReplacing()
    const replaced = await work()
    setTimeout(onReplaced, ANSWER_FIRST_MS)
    return replaced.ok ? ok(null) : err(engineError('storage', inWords(replaced.error)))
  }

  return {
    // Without waiting for the disk: it is wanted most when the disk takes nothing.
    exportDatabase: () => Promise.resolve(ok(atLength(durable.image))),
    checkImport: (bytes) => {
      const checked = check(bytes)
      return Promise.resolve(checked.ok ? ok(checked.value.preview) : checked)
    },
    importDatabase: (bytes) => {
      const checked = check(bytes)
      return checked.ok ? replace(() => durable.replaceWith(checked.value.image)) : Promise.resolve(checked)
    },
    undoImport: () =>
      durable.replacedAt() === null
        ? Promise.resolve(err(engineError('not_found', 'There is no import to undo.')))
        : replace(() => durable.undoReplace()),
    startAnew: () =>
      Promise.resolve(err(engineError('storage', 'What is stored is open and well. Nothing was changed.'))),
    keepImport: async () => {
      await durable.forgetReplaced()
      return ok(null)
    },
    getBackupFolder: async () => ok(await backup.folder()),
    backupStatus: async () => ok(await backup.status()),
    chooseBackupFolder: async (folder) => {
      await backup.choose(folder)
      return ok(await backup.status())
    },
    backUpNow: async () => {
      const outcome = await backup.backUp()
      return outcome.kind === 'done' ? ok(outcome.backup) : err(engineError('storage', outcome.message))
    },
  }
}

/** False as soon as storage says no: a barrier waits until it says yes again, and that may be never. */
const isSaved = ({ durability }: DurableDatabase): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (saved: boolean) => {
      clearInterval(look)
      resolve(saved)
    }
    const look = setInterval(() => {
      if (!durability.isAccepting()) end(false)
    }, ANSWER_FIRST_MS)
    durability.barrier().then(
      () => end(true),
      () => end(false),
    )
  })

const isQuietSoon = (engine: Engine): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), QUIET_WITHIN_MS)
    void engine.whenQuiet().then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })

const inWords = (state: StorageState): string =>
  state.kind === 'ok' ? 'It failed.' : `${state.message} ${state.advice}`
