import { err, ok, type Result } from '#engine/model/result.ts'
import { attempt, attemptNow } from './attempt-file.ts'
import { DISK_FORMAT } from './disk.ts'
import type { Disk, DiskState, DiskTrouble, DiskWrite, Epoch, LogPiece, StoredPiece } from './disk.ts'
import type { LogFile, LogFolder } from './log-folder.ts'
import { FileOwner, OVERTAKEN } from './file-owner.ts'
import { encodeFrame, type FrameOwner } from './log-frame.ts'
import {
  freeSlot,
  MANY_PIECES,
  piecesOf,
  RIPE_AFTER_MS,
  slotName,
  slotNumbers,
  withoutFolded,
  withPiece,
} from './log-pieces.ts'
import { firstFrame } from './read-log-file.ts'
import { guessPieces, readPieces } from './read-pieces.ts'
import { SpareCopy } from './spare-copy.ts'
import { SpareKeeper } from './spare-keeper.ts'

/** Then the log goes on in the next file, if there is a free one. */
const FULL_BYTES = 4 * 2 ** 20
const OWNERS = 'owners'
/** A file that grows asks the browser for room with each frame, and the disk for blocks with each sync. */
const ROOM = new Uint8Array(2 ** 20)

export interface FileLogOptions {
  /** Null where files cannot be had: then everything is in the database. */
  openFolder: () => Promise<LogFolder | null>
  now?: () => number
  /** For tests and benches: files are relied on as soon as they are there. */
  ripeAfterMs?: number
  /** For tests: how long a file gets. */
  fullBytes?: number
}

/** The file that the log goes on in. */
interface OpenPiece {
  slot: number
  file: LogFile
  owner: FrameOwner
  /** Where the next frame begins. */
  at: number
  /** Everything before this place is on the disk. */
  syncedTo: number
  /** How long the file is. */
  room: number
  /** All records before this one are on the disk. */
  syncedBefore: number
}

interface UnsyncedEnd {
  slot: number
  from: number
  to: number
}

/**
 * The log in files that are written in place, everything else in the database behind. A small transaction in IndexedDB goes
 * through another process and its queues; the same bytes in a file are on the disk in a fraction of that, in this very turn.
 *
 * What IndexedDB gives for nothing is made here: a frame is whole or not there (log-frame.ts); the order of records is kept
 * across places, because a new place is entered in the state before anything goes there, and what came before is synced by
 * then; and an owner that was overtaken is fenced: each new one makes the file `owners` longer before it reads the log, and
 * whoever writes looks at its length afterwards. Either the new one sees the frame, or the old one sees the new one.
 */
export class FileLogDisk implements Disk {
  readonly #inner: Disk
  readonly #options: Required<FileLogOptions>
  #folder: LogFolder | null = null
  readonly #owner: FileOwner
  #state: DiskState | null = null
  #open: OpenPiece | null = null
  /** The end of a file that was left in trouble: nobody knows whether it is on the disk. */
  #unsynced: UnsyncedEnd | null = null
  /** Sees to it that what the database holds is in files as well. */
  #keeper: SpareKeeper | null = null

  constructor(inner: Disk, options: FileLogOptions) {
    this.#inner = inner
    this.#options = { now: Date.now, ripeAfterMs: RIPE_AFTER_MS, fullBytes: FULL_BYTES, ...options }
    this.#owner = new FileOwner(inner, this.#options.now)
  }

  get onLost(): ((trouble: DiskTrouble) => void) | null {
    return this.#inner.onLost
  }

  set onLost(listener: ((trouble: DiskTrouble) => void) | null) {
    this.#inner.onLost = listener
  }

  get isQuick(): boolean {
    return this.#open !== null
  }

  get isScattered(): boolean {
    const { pieces = [] } = this.#state ?? {}
    // Of what is in the database there is no other copy.
    return pieces.length >= MANY_PIECES || (this.#open !== null && pieces.some(({ slot }) => slot === null))
  }

  get wasRestored(): boolean {
    return this.#keeper?.wasRestored === true
  }

  async connect(): Promise<Result<void, DiskTrouble>> {
    const connected = await this.#inner.connect()
    // Files that were out of reach when the database was claimed hold no mark of this owner, and cannot fence it.
    if (!connected.ok || this.#folder || this.#owner.isClaimed) return connected
    try {
      const folder = await this.#options.openFolder()
      this.#owner.useMarks((await folder?.open(OWNERS)) ?? null)
      this.#keeper = folder && new SpareKeeper(await SpareCopy.open(folder), this.#inner, () => this.#owner.isOwner())
      this.#folder = folder
    } catch {
      // The database can do without, unless part of the log is there: then reading it says so.
      this.#owner.close()
      this.#folder = null
    }
    return connected
  }

  async claim(): Promise<Result<Epoch, DiskTrouble>> {
    const claimed = await this.#owner.claim()
    if (!claimed.ok) return claimed
    const { epoch, isLatest, hadStranger } = claimed.value
    const kept = isLatest ? await this.#keeper?.takeOver(epoch, { isOld: hadStranger }) : undefined
    return kept?.ok === false ? kept : ok(epoch)
  }

  async readState(): Promise<Result<DiskState | null, DiskTrouble>> {
    const found = await this.#inner.readState()
    if (found.ok) this.#state = found.value
    if (this.#state && this.#owner.isClaimed) this.#keeper?.adopt(this.#state)
    return found
  }

  readEpoch(): Promise<Result<Epoch, DiskTrouble>> {
    return this.#inner.readEpoch()
  }

  newestGeneration(): Promise<Result<number, DiskTrouble>> {
    return this.#inner.newestGeneration()
  }

  readExtents(generation: number, onPiece: (piece: StoredPiece) => void): Promise<Result<void, DiskTrouble>> {
    return this.#keeper && this.#owner.isClaimed
      ? this.#keeper.readExtents(generation, onPiece)
      : this.#inner.readExtents(generation, onPiece)
  }

  async readRecords(
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<Result<void, DiskTrouble>> {
    const pieces = await this.#piecesToRead(generation, from)
    if (!pieces.ok) return pieces
    const places = { database: this.#inner, folder: this.#folder }
    return readPieces(places, pieces.value, { generation, from }, onPiece)
  }

  async write(write: DiskWrite): Promise<Result<void, DiskTrouble>> {
    const { records = [], ...rest } = write
    const [first] = records
    if (!this.#isOurs(write)) return this.#writeToDatabase(write)
    const synced = await this.#syncLeft()
    if (!synced.ok) return synced
    if (first) {
      const place = await this.#placeFor(first.index, write)
      if (!place.ok) return place
    }
    const open = this.#open
    if (!open) return this.#writeToDatabase(write)
    const sure = await this.#owner.makeSure()
    if (!sure.ok) return sure
    // Extents must not be ahead of the log, and who waits with nothing to write waits for what went before.
    const isStrict = write.durability === 'strict' || write.extents !== undefined
    const appended = this.#append(open, records, isStrict)
    return appended.ok && concernsDatabase(rest) ? this.#writeInner(rest) : appended
  }

  close(): void {
    this.#leaveFile()
    this.#owner.close()
    this.#keeper?.close()
    this.#folder = this.#keeper = null
    this.#inner.close()
  }

  #leaveFile(): void {
    this.#open?.file.close()
    this.#open = null
  }

  /** What is written beside the current database, such as one that is imported, is not in files. */
  #isOurs({ generation, state }: DiskWrite): boolean {
    const current = this.#state?.generation
    return this.#folder !== null && generation === current && (state === undefined || state.generation === current)
  }

  /** Behind a file that the log goes on in, a record in the database would never be read: as when this is closed meanwhile. */
  #writeToDatabase(write: DiskWrite): Promise<Result<void, DiskTrouble>> {
    const state = this.#state?.generation === write.generation ? this.#state : null
    const isBehindFile = state !== null && piecesOf(state).at(-1)?.slot !== null
    if (!write.records?.length || !isBehindFile) return this.#writeInner(write)
    return Promise.resolve(err({ kind: 'lost', reason: 'The file that the log is in is closed.' }))
  }

  async #writeInner(write: DiskWrite): Promise<Result<void, DiskTrouble>> {
    const state = write.state && this.#stateToWrite(write.state)
    return this.#writeThrough(state === undefined ? write : { ...write, state })
  }

  async #writeThrough(write: DiskWrite): Promise<Result<void, DiskTrouble>> {
    const written = await this.#inner.write(write)
    if (!written.ok) return written
    if (write.state) this.#state = write.state
    this.#keeper?.note(write)
    return written
  }

  /** Where the log is only this class knows; whoever else writes the state leaves that as it is. */
  #stateToWrite(state: DiskState): DiskState {
    const current = this.#state
    if (current?.generation !== state.generation) return state
    const { pieces, slotsSince } = current
    return {
      ...state,
      format: DISK_FORMAT,
      ...(pieces && { pieces: withoutFolded(pieces, state.head) }),
      ...(slotsSince !== undefined && { slotsSince }),
    }
  }

  /** Sees to it that the log goes on where it should: in `#open`, or in the database when there is none. */
  async #placeFor(first: number, { epoch, generation }: DiskWrite): Promise<Result<void, DiskTrouble>> {
    if (this.#open && this.#open.at < this.#options.fullBytes) return ok(undefined)
    const state = this.#state
    if (!state) return ok(undefined)
    if (state.slotsSince === undefined) return this.#makeSlots(epoch, state)
    const slot = freeSlot(state, this.#options.now(), this.#options.ripeAfterMs)
    if (slot === null) {
      // Without a free one the last one grows on. What another owner wrote last is never gone on with.
      const isInDatabase = this.#open !== null || piecesOf(state).at(-1)?.slot === null
      return isInDatabase ? ok(undefined) : this.#enter({ first, slot: null }, epoch, state)
    }
    return this.#beginFile(slot, first, { generation, epoch, mark: drawMark() }, state)
  }

  /** All at once and once only: what they are called has to be on the disk long before what is in them. */
  async #makeSlots(epoch: Epoch, state: DiskState): Promise<Result<void, DiskTrouble>> {
    const folder = this.#folder
    try {
      for (const slot of slotNumbers) (await folder?.open(slotName(slot)))?.close()
    } catch {
      this.#folder = null
      return ok(undefined)
    }
    const { generation } = state
    const noted = { ...state, format: DISK_FORMAT, slotsSince: this.#options.now() }
    this.#state = noted
    return this.#writeInner({ epoch, generation, durability: 'strict', state: noted })
  }

  async #beginFile(
    slot: number,
    first: number,
    owner: FrameOwner,
    state: DiskState,
  ): Promise<Result<void, DiskTrouble>> {
    const folder = this.#folder
    if (!folder) return ok(undefined)
    const frame = firstFrame(owner, first)
    const begun = await attempt(async () => {
      const file = await folder.open(slotName(slot))
      try {
        file.write(frame, 0)
        file.flush()
        this.#open?.file.flush()
        const at = frame.length
        return { slot, file, owner, at, syncedTo: at, room: file.size(), syncedBefore: first }
      } catch (error) {
        file.close()
        throw error
      }
    })
    if (!begun.ok) {
      if (this.#open) this.#leaveInTrouble(this.#open, begun.error)
      return begun
    }
    const { epoch, mark } = owner
    const entered = await this.#enter({ first, slot, epoch, mark }, epoch, state)
    if (!entered.ok) {
      begun.value.file.close()
      return entered
    }
    this.#leaveFile()
    this.#open = begun.value
    return entered
  }

  /** From here on whoever opens the database looks there. */
  async #enter(piece: LogPiece, epoch: Epoch, state: DiskState): Promise<Result<void, DiskTrouble>> {
    const { generation } = state
    const entered = { ...state, format: DISK_FORMAT, pieces: withPiece(piecesOf(state), piece) }
    return this.#writeThrough({ epoch, generation, durability: 'strict', state: entered })
  }

  #append(open: OpenPiece, records: readonly StoredPiece[], isStrict: boolean): Result<void, DiskTrouble> {
    const { file, owner, syncedBefore } = open
    const last = records.at(-1)
    const frame = last && encodeFrame({ owner, syncedBefore, records })
    const appended = attemptNow(() => {
      if (!this.#owner.isOwner()) return false
      if (frame) writeFrame(open, frame)
      if (isStrict) file.flush()
      return this.#owner.isOwner()
    })
    if (!appended.ok) {
      this.#leaveInTrouble(open, appended.error)
      return appended
    }
    if (!appended.value) return err(OVERTAKEN)
    if (frame) open.at += frame.length
    if (isStrict) open.syncedTo = open.at
    if (isStrict && last) open.syncedBefore = last.index + 1
    return ok(undefined)
  }

  /** A full disk may have room again; any other trouble is left behind with the file. */
  #leaveInTrouble({ slot, syncedTo, at }: OpenPiece, { kind }: DiskTrouble): void {
    if (kind === 'full') return
    if (syncedTo < at) this.#unsynced = { slot, from: syncedTo, to: at }
    this.#leaveFile()
  }

  /**
   * What comes after it would be of no use without it, and whoever waits would be told too soon. It is written once more, because a
   * system that has failed to sync something may take it for synced the next time.
   */
  async #syncLeft(): Promise<Result<void, DiskTrouble>> {
    const folder = this.#folder
    const left = this.#unsynced
    if (!left || !folder) return ok(undefined)
    const synced = await attempt(async () => {
      const file = await folder.open(slotName(left.slot))
      try {
        // Whoever has come meanwhile may use the file for something else.
        if (!this.#owner.isOwner()) return false
        writeAgain(file, left)
        return true
      } finally {
        file.close()
      }
    })
    if (!synced.ok) return synced
    if (!synced.value) return err(OVERTAKEN)
    this.#unsynced = null
    return ok(undefined)
  }

  async #piecesToRead(generation: number, from: number): Promise<Result<readonly LogPiece[], DiskTrouble>> {
    const state = this.#state
    const known = state && [state, state.previous].find((each) => each?.generation === generation)
    if (known) return ok(piecesOf(known))
    const inDatabase = ok<readonly LogPiece[]>([{ first: from, slot: null }])
    if (state || !this.#folder) return inDatabase
    // Where nothing at all is stored, files are what a deleted database has left behind.
    const newest = await this.#inner.newestGeneration()
    return newest.ok && newest.value > 0 ? guessPieces(this.#inner, this.#folder, generation) : inDatabase
  }
}

const writeFrame = (open: OpenPiece, frame: Uint8Array<ArrayBuffer>): void => {
  while (open.at + frame.length > open.room) {
    open.file.write(ROOM, open.room)
    open.room += ROOM.length
  }
  open.file.write(frame, open.at)
}

const writeAgain = (file: LogFile, { from, to }: UnsyncedEnd): void => {
  if (file.size() < to) throw new Error('A file of the log has become shorter.')
  const bytes = new Uint8Array(to - from)
  file.read(bytes, from)
  file.write(bytes, from)
  file.flush()
}

const drawMark = (): number => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0

const concernsDatabase = (write: Omit<DiskWrite, 'records'>): boolean =>
  write.state !== undefined ||
  write.extents !== undefined ||
  write.dropRecordsBefore !== undefined ||
  write.dropExtentsFrom !== undefined ||
  write.dropGenerations !== undefined
