import { PAGE_BYTES } from './dirty-lines.ts'
import { EXTENT_BYTES, type DiskState, type DiskWrite, type StoredPiece } from './disk.ts'
import type { FileMirror } from './file-mirror.ts'
import type { LogChunk } from './log-record.ts'

const SMALLEST_LOG_TO_FOLD = 16 * 2 ** 20
/** One MiB at a time. */
export const EXTENTS_PER_WRITE = 4
/** Dropping tens of thousands of records at once would hold up the commits behind it. */
const RECORDS_DROPPED_PER_FLUSH = 1024
const PAGES_PER_EXTENT = EXTENT_BYTES / PAGE_BYTES

export const extentOfPage = (page: number): number => Math.floor(page / PAGES_PER_EXTENT)

/** Always of full length: a file that got shorter must not make an extent shorter that the old head still relies on. */
export function extentAt(file: FileMirror, index: number): ArrayBuffer {
  const bytes = new Uint8Array(EXTENT_BYTES)
  bytes.set(file.view(index * EXTENT_BYTES, (index + 1) * EXTENT_BYTES))
  return bytes.buffer
}

export interface LogExtent {
  /** Bytes of the log from the head on. */
  logBytes: number
  /** Extents that the log changes: those are to be rewritten. */
  changedExtents: Set<number>
}

interface Fold {
  /** Everything before this record will be in the extents. */
  newHead: number
  queue: number[]
  /** The shortest the file has been since, according to the log: what was cut off and grew again is behind `newHead`. */
  shortestFile: number
}

/**
 * Moves what the log says into the extents, a little with each flush, so that the log stays short and nobody waits long.
 *
 * Why a crash in between is harmless: an extent is rewritten in the same transaction as the records up to that moment, and
 * every line in which it differs from before is in the log behind the old head. Replaying the log over old or new extents
 * gives the same file.
 */
export class Folding {
  readonly #smallestLog: number
  #changed: Set<number>
  #logBytes: number
  #fold: Fold | null = null
  /** Null until the first drop: a crash may have left records below the head behind, and that drop takes them along. */
  #droppedBefore: number | null = null
  #foldedBytes = 0

  constructor(start: LogExtent, smallestLog = SMALLEST_LOG_TO_FOLD) {
    this.#changed = start.changedExtents
    this.#logBytes = start.logBytes
    this.#smallestLog = smallestLog
  }

  get logBytes(): number {
    return this.#logBytes
  }

  get isActive(): boolean {
    return this.#fold !== null
  }

  noteAppended(chunks: readonly LogChunk[], nextSequence: number, isScattered = false): void {
    for (const { bytes, pages } of chunks) {
      this.#logBytes += bytes.byteLength
      for (const page of pages) this.#changed.add(extentOfPage(page))
    }
    const fileBytes = chunks.at(-1)?.fileBytes
    if (fileBytes === undefined) return
    if (this.#fold) this.#fold.shortestFile = Math.min(this.#fold.shortestFile, fileBytes)
    else if (isScattered || this.#logBytes > Math.max(this.#smallestLog, fileBytes / 4))
      this.#begin(fileBytes, nextSequence)
  }

  /** What to send along with the next flush. `file` must hold exactly what the log will hold after it. */
  takePieces(file: FileMirror): { extents: StoredPiece[] } {
    const extents: StoredPiece[] = []
    while (this.#fold && this.#fold.queue.length > 0 && extents.length < EXTENTS_PER_WRITE) {
      const index = this.#fold.queue.shift() ?? 0
      if (index * EXTENT_BYTES < file.size) extents.push({ index, bytes: extentAt(file, index) })
    }
    return { extents }
  }

  /** The flush did not go through. */
  putBack(extents: readonly StoredPiece[]): void {
    this.#fold?.queue.unshift(...extents.map(({ index }) => index))
  }

  /** The move of the head once all extents are written. */
  headMove(state: DiskState): Pick<DiskWrite, 'state' | 'dropExtentsFrom'> | null {
    if (!this.#fold || this.#fold.queue.length > 0) return null
    const baseBytes = this.#fold.shortestFile
    return {
      state: { ...state, head: this.#fold.newHead, baseBytes },
      dropExtentsFrom: Math.ceil(baseBytes / EXTENT_BYTES),
    }
  }

  noteHeadMoved(): void {
    this.#fold = null
    this.#logBytes -= this.#foldedBytes
  }

  /** Old records to drop along with the next flush. */
  nextDrop(head: number): number | undefined {
    if (this.#droppedBefore === null) return head
    if (this.#droppedBefore >= head) return undefined
    return Math.min(head, this.#droppedBefore + RECORDS_DROPPED_PER_FLUSH)
  }

  noteDropped(before: number): void {
    this.#droppedBefore = before
  }

  #begin(fileBytes: number, nextSequence: number): void {
    this.#fold = { newHead: nextSequence, queue: [...this.#changed].sort((a, b) => a - b), shortestFile: fileBytes }
    this.#foldedBytes = this.#logBytes
    this.#changed = new Set()
  }
}
