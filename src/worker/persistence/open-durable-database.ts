import type { Database } from 'sql.js'
import type { Durability } from '#engine/ports/durability.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { openCapture, type Capture } from './capture.ts'
import { DISK_FORMAT, type Disk, type DiskState, type DiskTrouble, type Epoch } from './disk.ts'
import type { FileMirror } from './file-mirror.ts'
import { Flusher, type FlushCounters } from './flusher.ts'
import { Folding } from './folding.ts'
import type { Sqlite } from './load-sqlite.ts'
import { readStored } from './read-stored.ts'
import { replaceStored, undoReplace, type Owner } from './replace-stored.ts'
import { troubleState, type StorageState } from './storage-state.ts'

const freshState: DiskState = { format: DISK_FORMAT, generation: 1, head: 1, baseBytes: 0, previous: null }

export interface DurableStats extends FlushCounters {
  captureKind: Capture['kind']
  fileBytes: number
  logBytes: number
  logIn: 'files' | 'database'
  /** The browser had thrown its database away; it was put together again from files. */
  wasRestored: boolean
}

export interface DurableDatabase {
  database: Database
  durability: Durability
  epoch: Epoch
  /** True when there was nothing on disk before. */
  isNew: boolean
  /** To be called after each commit; harmless when called too often. */
  noteCommit: () => void
  storage: () => StorageState
  stats: () => DurableStats
  /** Tries again now after trouble. */
  retry: () => Promise<void>
  /** The database file as last committed: a real SQLite file, from memory, whatever state the storage is in. */
  image: () => Uint8Array<ArrayBuffer>
  /** Reads the same bytes in place, without the copy: whoever reads must be done when it returns. */
  readImage: <T>(read: (file: Uint8Array) => T) => T
  /** Since when there is a database from before an import that one can go back to. */
  replacedAt: () => number | null
  /**
   * Puts another file, checked by `checkImport`, in the place of this database. Stop the engine first; this database is closed,
   * and has to be opened anew, also after a failure, which leaves the stored one as it was.
   */
  replaceWith: (image: Uint8Array) => Promise<Result<void, StorageState>>
  /** Goes back to what was there before the import. Closes this one as well. */
  undoReplace: () => Promise<Result<void, StorageState>>
  /** Gives back the room of what was there before the import. */
  forgetReplaced: () => Promise<void>
  /** Lets go of everything without flushing: call `durability.barrier()` first. */
  close: () => void
}

export type OpenTrouble =
  /** Storage refused. What is stored can still be read with `salvage`. */
  | { kind: 'storage'; state: StorageState }
  /** Something is missing or does not add up. Nothing was changed; `salvage` gives what is there. */
  | { kind: 'damaged'; message: string; damage: string[] }
  /** Written by a newer version of this program. */
  | { kind: 'newer'; message: string }

export interface OpenOptions {
  disk: Disk
  sqlite: Sqlite
  now?: () => number
  after?: (ms: number, wake: () => void) => () => void
  afterOthers?: (wake: () => void) => void
  onState?: (state: StorageState) => void
  /** For tests: fold earlier than at 16 MiB. */
  smallestLogToFold?: number
  /** For tests: flush every commit at once. */
  gatherMs?: number
}

const afterTimeout = (ms: number, wake: () => void) => {
  const timer = setTimeout(wake, ms)
  return () => clearTimeout(timer)
}

export async function openDurableDatabase(options: OpenOptions): Promise<Result<DurableDatabase, OpenTrouble>> {
  const opened = await open(options)
  if (!opened.ok) options.disk.close()
  return opened
}

async function open(options: OpenOptions): Promise<Result<DurableDatabase, OpenTrouble>> {
  const { disk, sqlite, now = Date.now, after = afterTimeout } = options
  const refuse = (trouble: DiskTrouble) => err({ kind: 'storage', state: troubleState(trouble, now()) } as const)

  const connected = await disk.connect()
  if (!connected.ok) return refuse(connected.error)
  // First the epoch, then the reading: whatever an earlier owner still managed to write is then seen, and nothing comes after.
  const epoch = await disk.claim()
  if (!epoch.ok) return refuse(epoch.error)
  const found = await disk.readState()
  if (!found.ok) return refuse(found.error)
  const state = found.value ?? freshState
  if (state.format > DISK_FORMAT) return err(newerTrouble)
  const stored = await readStored(disk, state)
  if (!stored.ok) return refuse(stored.error)
  if (!found.value) {
    const newest = await disk.newestGeneration()
    if (!newest.ok) return refuse(newest.error)
    if (newest.value > 0) stored.value.damage.unshift('The entry that says how the pieces belong together is missing.')
  }
  if (stored.value.damage.length > 0) return err(damageTrouble(stored.value.damage))
  if (!found.value) {
    const begun = await disk.write({ epoch: epoch.value, generation: state.generation, durability: 'strict', state })
    if (!begun.ok) return refuse(begun.error)
  }
  const { file, nextSequence } = stored.value
  const isNew = file.size === 0
  if (isNew) file.begin(sqlite.emptyImage)
  const capture = tryCapture(sqlite, file)
  if (!capture.ok) return err(damageTrouble([capture.error]))
  const folding = new Folding(stored.value, options.smallestLogToFold)
  const { onState, gatherMs, afterOthers } = options
  const asked = {
    ...(onState && { onState }),
    ...(gatherMs !== undefined && { gatherMs }),
    ...(afterOthers && { afterOthers }),
  }
  const owned = { epoch: epoch.value, state, nextSequence, now, after, ...asked }
  const flusher = new Flusher({ disk, capture: capture.value, folding, ...owned })
  return ok(createDurableDatabase({ disk, capture: capture.value, folding, flusher, epoch: epoch.value, isNew, now }))
}

/** Every piece may be as it was written and the whole still be no database, if what was written was wrong. */
function tryCapture(sqlite: Sqlite, file: FileMirror): Result<Capture, string> {
  try {
    return ok(openCapture(sqlite, file))
  } catch (error) {
    return err(`SQLite cannot read it: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

function createDurableDatabase(parts: {
  disk: Disk
  capture: Capture
  folding: Folding
  flusher: Flusher
  epoch: Epoch
  isNew: boolean
  now: () => number
}): DurableDatabase {
  const { disk, capture, folding, flusher, epoch, isNew, now } = parts
  const close = () => {
    flusher.close()
    capture.close()
    disk.close()
  }
  /** For what changes the stored database behind its back: everything is on disk before, and nobody writes any more. */
  const closeAnd = async (change: (owner: Owner) => Promise<Result<void, DiskTrouble>>) => {
    if (!flusher.isAccepting()) return err(flusher.storage)
    const isSaved = await flusher.barrier().then(
      () => true,
      () => false,
    )
    if (!isSaved) return err(flusher.storage)
    flusher.close()
    capture.close()
    const changed = await change({ disk, epoch, now })
    disk.close()
    return changed.ok ? changed : err(troubleState(changed.error, now()))
  }
  return {
    database: capture.database,
    durability: flusher,
    epoch,
    isNew,
    noteCommit: () => flusher.committed(),
    storage: () => flusher.storage,
    stats: () => ({
      ...flusher.counters,
      captureKind: capture.kind,
      fileBytes: capture.file.size,
      logBytes: folding.logBytes,
      logIn: disk.isQuick === true ? 'files' : 'database',
      wasRestored: disk.wasRestored === true,
    }),
    retry: () => flusher.retry(),
    image() {
      capture.refresh()
      return capture.file.copy()
    },
    readImage(read) {
      capture.refresh()
      return read(capture.file.view())
    },
    replacedAt: () => flusher.disk.previous?.replacedAt ?? null,
    replaceWith: (image) => closeAnd((owner) => replaceStored(owner, image)),
    undoReplace: () => closeAnd(undoReplace),
    forgetReplaced: () => flusher.forgetPrevious(),
    close,
  }
}

const newerTrouble: OpenTrouble = {
  kind: 'newer',
  message: 'The stored data was written by a newer version of this program. Reload the page to get that version.',
}

const damageTrouble = (damage: string[]): OpenTrouble => ({
  kind: 'damaged',
  message: `The stored database is damaged and was left as it is. ${damage[0] ?? ''} In Settings, under Backup, download what can be read, then restore a backup or start anew.`,
  damage,
})
