import { engineError, type EngineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { EngineApi } from './api.ts'
import { checkImport } from './persistence/check-import.ts'
import type { Disk, DiskTrouble } from './persistence/disk.ts'
import type { Sqlite } from './persistence/load-sqlite.ts'
import { salvage } from './persistence/read-stored.ts'
import { changeStored, replaceStored, undoReplace, type Owner } from './persistence/replace-stored.ts'
import { refusalInWords } from './persistence/storage-state.ts'

export interface BrokenEngineParts {
  /** Why it cannot be opened. */
  error: EngineError
  openDisk: () => Disk
  sqlite: () => Promise<Pick<Sqlite, 'sqlJs' | 'emptyImage'>>
  now: () => number
  /** The stored database is another one now, which may well open. */
  onReplaced: () => void
}

type Method = (...args: unknown[]) => Promise<Result<unknown>>
type Answers = Pick<EngineApi, 'exportDatabase' | 'checkImport' | 'importDatabase' | 'undoImport' | 'startAnew'>

/**
 * Stands in for an engine that cannot be opened: every call is answered with the reason, except that what is stored can still be
 * got out, as far as it can be read, and a backup or an empty database can be put in its place. What cannot be opened is kept beside it.
 */
export function createBrokenApi(parts: BrokenEngineParts): EngineApi {
  let isReplaced = false
  const answers = createAnswers({
    ...parts,
    onReplaced: () => {
      isReplaced = true
      parts.onReplaced()
    },
  }) as Answers & Record<string, Method>
  const refuse: Method = () => Promise.resolve(err(parts.error))
  // Once it is replaced nobody wants to hear the old reason: the successor is asked instead.
  const methodOf =
    (name: PropertyKey): Method =>
    (...args) =>
      isReplaced ? new Promise(() => undefined) : (ownMethod(answers, name) ?? refuse)(...args)
  return new Proxy({} as EngineApi, {
    get: (_, name) => methodOf(name),
    // The relay looks for methods of the object itself, so that nobody can call what it inherits.
    getOwnPropertyDescriptor: (_, name) => ({
      value: methodOf(name),
      configurable: true,
      enumerable: true,
      writable: true,
    }),
  })
}

const ownMethod = (answers: Record<string, Method>, name: PropertyKey): Method | undefined =>
  typeof name === 'string' && Object.hasOwn(answers, name) ? answers[name] : undefined

function createAnswers({ openDisk, sqlite, now, onReplaced }: BrokenEngineParts): Answers {
  const withDisk = async <T>(use: (disk: Disk) => Promise<T>): Promise<T> => {
    const disk = openDisk()
    try {
      return await use(disk)
    } finally {
      disk.close()
    }
  }
  const replace = async (change: (owner: Owner) => Promise<Result<void, DiskTrouble>>): Promise<Result<null>> => {
    const changed = await withDisk((disk) => changeStored(disk, now, change))
    if (!changed.ok) return err(engineError('storage', refusalInWords[changed.error.kind]))
    onReplaced()
    return ok(null)
  }
  return {
    exportDatabase: async () => {
      const found = await withDisk(salvage)
      return found.ok ? ok(found.value) : err(engineError('storage', `Nothing could be read: ${found.error.reason}`))
    },
    checkImport: async (bytes) => {
      const checked = checkImport((await sqlite()).sqlJs, bytes)
      return checked.ok ? ok(checked.value.preview) : checked
    },
    importDatabase: async (bytes) => {
      const checked = checkImport((await sqlite()).sqlJs, bytes)
      return checked.ok ? replace((owner) => replaceStored(owner, checked.value.image)) : checked
    },
    startAnew: async () => {
      const { emptyImage } = await sqlite()
      return replace((owner) => replaceStored(owner, emptyImage))
    },
    undoImport: async () => {
      const found = await withDisk(async (disk) => {
        const connected = await disk.connect()
        return connected.ok ? disk.readState() : connected
      })
      if (!found.ok) return err(engineError('storage', refusalInWords[found.error.kind]))
      if (!found.value?.previous) return err(engineError('not_found', 'There is no import to undo.'))
      return replace(undoReplace)
    },
  }
}
