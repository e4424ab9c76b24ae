import type { Durability } from '#engine/ports/durability.ts'
import { err, type Result } from '#engine/model/result.ts'
import type { Capture } from './capture.ts'
import type { Disk, DiskState, DiskTrouble, DiskWrite, Epoch, StoredPiece } from './disk.ts'
import type { Folding } from './folding.ts'
import { encodeChanges, type LogChunk } from './log-record.ts'
import { troubleState, type StorageState } from './storage-state.ts'

const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 15_000
const GATHER_MS = 4

export interface FlusherOptions {
  disk: Disk
  capture: Capture
  folding: Folding
  epoch: Epoch
  state: DiskState
  nextSequence: number
  now: () => number
  /** Calls `wake` once after `ms`; the returned function takes it back. */
  after: (ms: number, wake: () => void) => () => void
  /** Calls `wake` when everything has had its turn that waits for one already. */
  afterOthers?: (wake: () => void) => void
  onState?: (state: StorageState) => void
  /**
   * So soon after a write, commits that nobody waits for are left to gather: a write of theirs under way is what the next
   * barrier would have to wait for, and most of the time that barrier takes them along.
   */
  gatherMs?: number
}

export interface FlushCounters {
  flushes: number
  recordBytes: number
  extentBytes: number
  folds: number
  lastFlushAt: number | null
}

/** Thrown by `barrier()`: this engine is no longer the owner of the data and must not act any more. */
export class Fenced extends Error {
  override name = 'Fenced'
}

interface Waiter {
  resolve: () => void
  reject: (reason: Error) => void
}

interface Step {
  write: DiskWrite
  extents: StoredPiece[]
  waiters: Waiter[]
  movesHead: boolean
}

/**
 * Group commit. One transaction is under way at a time, and what was committed meanwhile goes out together in the next: with
 * two under way an abort of the first would leave a gap in front of the second.
 */
export class Flusher implements Durability {
  readonly counters: FlushCounters = { flushes: 0, recordBytes: 0, extentBytes: 0, folds: 0, lastFlushAt: null }
  readonly #options: FlusherOptions
  #disk: DiskState
  #nextSequence: number
  #storage: StorageState = { kind: 'ok' }
  #waiters: Waiter[] = []
  #wantsStrict = false
  #wantsProbe = false
  #forgetsPrevious = false
  /** Everything written so far is synced. */
  #isSynced = true
  /** Records that were sent once and may or may not have arrived: sent again as they are until they have. */
  #outgoing: LogChunk[] = []
  #isScheduled = false
  #isPumping = false
  #isClosed = false
  #cancelRetry: (() => void) | null = null
  #cancelGathering: (() => void) | null = null
  #wroteAt = -Infinity
  #retryMs = FIRST_RETRY_MS
  #lostMeanwhile: DiskTrouble | null = null
  #closedBecause: Error | null = null

  constructor(options: FlusherOptions) {
    this.#options = options
    this.#disk = options.state
    this.#nextSequence = options.nextSequence
    options.capture.onChange = () => this.committed()
    options.disk.onLost = (trouble) => this.#noteLost(trouble)
  }

  get storage(): StorageState {
    return this.#storage
  }

  get disk(): DiskState {
    return this.#disk
  }

  /** Something was committed: it goes to the disk soon, but nobody waits for it. */
  committed(): void {
    this.#schedule()
  }

  flushSoon(): void {
    this.#wantsStrict = true
    this.#schedule()
  }

  barrier(): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#reasonToStop())
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
      this.flushSoon()
    })
  }

  /** Drops the database that was replaced by an import: it cannot be gone back to any more. */
  forgetPrevious(): Promise<void> {
    this.#forgetsPrevious = this.#disk.previous !== null
    const forgotten = this.barrier()
    // A full storage has room again afterwards: not to be put off until the next attempt.
    void this.retry()
    return forgotten
  }

  isAccepting(): boolean {
    return this.#storage.kind === 'ok' && !this.#isClosed
  }

  /** Tries again now instead of at the next automatic attempt. */
  async retry(): Promise<void> {
    if (this.#isClosed || this.#storage.kind === 'ok' || this.#isPumping) return
    this.#cancelRetry?.()
    this.#isPumping = true
    const connected = await this.#reconnect()
    this.#isPumping = false
    // Even with nothing to write: only a write that went through shows that the storage is well again.
    this.#wantsProbe = true
    if (connected.ok) await this.#pump()
    else this.#meet(connected.error)
  }

  /** Connecting makes the stores anew where they were deleted: records without what they build on must not go there. */
  async #reconnect(): Promise<Result<void, DiskTrouble>> {
    const { disk, epoch } = this.#options
    const connected = await disk.connect()
    if (!connected.ok) return connected
    const found = await disk.readEpoch()
    if (!found.ok) return found
    return found.value < epoch ? err({ kind: 'deleted', reason: 'The stored data is gone.' }) : connected
  }

  /** Ends without flushing. Whoever waits is told. */
  close(reason: Error = new Error('The database was closed.')): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closedBecause = reason
    this.#cancelRetry?.()
    this.#cancelGathering?.()
    for (const { reject } of this.#waiters.splice(0)) reject(reason)
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isPumping || this.#isClosed || this.#storage.kind !== 'ok') return
    this.#isScheduled = true
    const { disk, afterOthers } = this.#options
    // A write that takes other threads' time had better begin at once. One that takes ours takes along what is about to be
    // committed by those who wait for their turn.
    const soon = disk.isQuick === true && afterOthers ? afterOthers : queueMicrotask
    soon(() => {
      this.#isScheduled = false
      void this.#pump()
    })
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    for (let step = this.#nextStep(); step && !this.#isClosed; step = this.#nextStep()) {
      const result = await this.#options.disk.write(step.write)
      if (!result.ok) {
        this.#takeBack(step)
        this.#isPumping = false
        this.#meet(result.error)
        return
      }
      this.#settle(step)
    }
    this.#isPumping = false
    if (this.#lostMeanwhile) this.#meet(this.#lostMeanwhile)
    this.#lostMeanwhile = null
  }

  #nextStep(): Step | null {
    const { capture, folding, epoch } = this.#options
    if (this.#isClosed) return null
    const move = this.#storage.kind === 'ok' ? folding.headMove(this.#disk) : null
    if (move) return this.#step({ ...move, durability: 'strict' }, { movesHead: true })
    const { previous } = this.#disk
    if (this.#forgetsPrevious && previous) {
      const state = { ...this.#disk, previous: null }
      return this.#step({ state, dropGenerations: [previous.generation], durability: 'strict' }, {})
    }

    const isResending = this.#outgoing.length > 0
    // Whoever waits is answered by a transaction of its own even when nothing changed: it also shows that we are still the owner.
    const isWaitedFor = this.#waiters.length > 0 || this.#wantsProbe
    const isAsked = isWaitedFor || (this.#wantsStrict && !this.#isSynced)
    if (!isResending && !isWaitedFor && this.#gathers()) return null
    capture.refresh()
    if (!isResending && capture.file.hasChanges) {
      this.#outgoing = encodeChanges(capture.file, { sequence: this.#nextSequence, epoch })
    }
    const hasRecords = this.#outgoing.length > 0
    if (!hasRecords && !isAsked) return null

    // An extent must not be ahead of the log: what is sent again may be older than the file.
    const mayFold = hasRecords && !isResending && this.#storage.kind === 'ok'
    const { extents } = mayFold ? folding.takePieces(capture.file) : { extents: [] }
    const drop = mayFold ? folding.nextDrop(this.#disk.head) : undefined
    const records = this.#outgoing.map(({ sequence, bytes }) => ({ index: sequence, bytes }))
    // Extents are large enough for the browser to keep them in files of their own, which only a strict transaction syncs.
    const isStrict = this.#wantsStrict || isAsked || extents.length > 0
    return this.#step(
      {
        durability: isStrict ? 'strict' : 'relaxed',
        records,
        ...(extents.length > 0 && { extents }),
        ...(drop !== undefined && { dropRecordsBefore: drop }),
      },
      { extents, takesWaiters: isStrict && !isResending },
    )
  }

  /** True while it is too soon; then somebody looks again when it is not. */
  #gathers(): boolean {
    const { gatherMs = GATHER_MS, now, after } = this.#options
    const leftMs = this.#wroteAt + gatherMs - now()
    // More than that is left only when somebody has set the clock back.
    if (leftMs <= 0 || leftMs > gatherMs) return false
    this.#cancelGathering ??= after(leftMs, () => {
      this.#cancelGathering = null
      this.#schedule()
    })
    return true
  }

  #step(
    write: Omit<DiskWrite, 'epoch' | 'generation'>,
    about: { extents?: StoredPiece[]; movesHead?: boolean; takesWaiters?: boolean },
  ): Step {
    const waiters = about.takesWaiters ? this.#waiters.splice(0) : []
    if (about.takesWaiters) this.#wantsStrict = this.#wantsProbe = false
    return {
      write: { ...write, epoch: this.#options.epoch, generation: this.#disk.generation },
      extents: about.extents ?? [],
      movesHead: about.movesHead ?? false,
      waiters,
    }
  }

  #settle({ write, extents, waiters, movesHead }: Step): void {
    const { folding, now } = this.#options
    if (this.#storage.kind !== 'ok') this.#recover()
    if (write.state) {
      this.#disk = write.state
      if (movesHead) {
        folding.noteHeadMoved()
        this.counters.folds++
      }
      return
    }
    const chunks = this.#outgoing
    this.#outgoing = []
    this.#nextSequence += chunks.length
    this.#isSynced = write.durability === 'strict'
    if (write.dropRecordsBefore !== undefined) folding.noteDropped(write.dropRecordsBefore)
    folding.noteAppended(chunks, this.#nextSequence, this.#options.disk.isScattered)
    this.counters.flushes++
    this.#wroteAt = this.counters.lastFlushAt = now()
    this.counters.recordBytes += chunks.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    this.counters.extentBytes += extents.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    for (const { resolve } of waiters) resolve()
  }

  #takeBack({ extents, waiters }: Step): void {
    this.#options.folding.putBack(extents)
    if (this.#isClosed) for (const { reject } of waiters) reject(this.#reasonToStop())
    else this.#waiters.unshift(...waiters)
  }

  /** The connection went away by itself: stop at once instead of at the next commit. */
  #noteLost(trouble: DiskTrouble): void {
    if (this.#isPumping) this.#lostMeanwhile = trouble
    else this.#meet(trouble)
  }

  #meet(trouble: DiskTrouble): void {
    if (this.#isClosed) return
    this.#storage = troubleState(trouble, this.#options.now())
    this.#options.onState?.(this.#storage)
    if (trouble.kind === 'fenced') {
      this.close(new Fenced(trouble.reason))
      return
    }
    this.#cancelRetry?.()
    this.#cancelRetry = this.#options.after(this.#retryMs, () => void this.retry())
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS)
  }

  #recover(): void {
    this.#storage = { kind: 'ok' }
    this.#retryMs = FIRST_RETRY_MS
    this.#options.onState?.(this.#storage)
  }

  #reasonToStop(): Error {
    return this.#closedBecause ?? new Error('The database was closed.')
  }
}
