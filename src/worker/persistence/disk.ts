import type { Result } from '#engine/model/result.ts'

/** The database file is stored in pieces of this size, the last one filled up with zeros. */
export const EXTENT_BYTES = 256 * 1024

/** How it is stored. A higher one was written by a newer version of this program. Since 2 the log may go on in files. */
export const DISK_FORMAT = 2

/** A stretch of the log, up to the first record of the next one. */
export type LogPiece =
  /** In the database itself, where all of it is when nothing else is said. */
  | { first: number; slot: null }
  /** In a file; the mark tells its frames from what stood there before. */
  | { first: number; slot: number; epoch: Epoch; mark: number }

/** One copy of the database: the extents stored under its generation and the log from `head` on. */
export interface Generation {
  generation: number
  /** Sequence number of the first record of the log: everything before it is in the extents. */
  head: number
  /** How much of the file the extents hold for certain. What lies beyond is in the log. */
  baseBytes: number
  /** Where the log is, in order. */
  pieces?: readonly LogPiece[]
  /** The first record of those that the browser has thrown away, and of which there is no copy. */
  lostFrom?: number
}

export interface DiskState extends Generation {
  format: number
  /** What was there before the last import, kept so that it can be undone. */
  previous: (Generation & { replacedAt: number }) | null
  /** When the files for the log were made. */
  slotsSince?: number
}

/** Raised by each new owner. Whoever still holds a lower one is fenced: nothing of it reaches the disk any more. */
export type Epoch = number

export type DiskTroubleKind =
  /** Another tab owns the data now. Final. */
  | 'fenced'
  /** The browser or the disk has no room. */
  | 'full'
  /** The connection is gone, or the browser failed to read or write. */
  | 'lost'
  /** A newer version of this program has taken over the stored data. */
  | 'superseded'
  /** What was stored is gone, and with it everything that further records would build on. */
  | 'deleted'

export interface DiskTrouble {
  kind: DiskTroubleKind
  /** What the browser said. */
  reason: string
}

export interface StoredPiece {
  index: number
  bytes: ArrayBuffer
}

/** What one atomic write consists of. All of it is on disk afterwards, or nothing. */
export interface DiskWrite {
  epoch: Epoch
  generation: number
  durability: 'relaxed' | 'strict'
  records?: readonly StoredPiece[]
  extents?: readonly StoredPiece[]
  state?: DiskState
  /** Records of this generation that are no longer needed: all below this number. */
  dropRecordsBefore?: number
  dropExtentsFrom?: number
  /** Removes all extents and records of these generations. */
  dropGenerations?: readonly number[]
}

/**
 * All that persistence asks of the browser's storage. Small on purpose: the same code runs on IndexedDB alone, on IndexedDB with
 * the log in files (file-log-disk.ts), and on a simulated disk that dies at every step.
 */
export interface Disk {
  /** The connection went away by itself: closed by the browser, or asked for by a newer version of this program. */
  onLost: ((trouble: DiskTrouble) => void) | null
  /** Opens the connection, again if it was lost. Every other call needs it open. */
  connect(): Promise<Result<void, DiskTrouble>>
  /**
   * Makes the caller the owner: raises the epoch, to `least` if it is lower, and answers with it. Nobody before can write any more.
   */
  claim(least?: Epoch): Promise<Result<Epoch, DiskTrouble>>
  readState(): Promise<Result<DiskState | null, DiskTrouble>>
  readEpoch(): Promise<Result<Epoch, DiskTrouble>>
  /** Of all generations of which pieces are stored, whatever the state says; 0 when there are none. */
  newestGeneration(): Promise<Result<number, DiskTrouble>>
  /** Hands over the stored pieces in order. A gap shows in their indexes. */
  readExtents(generation: number, onPiece: (piece: StoredPiece) => void): Promise<Result<void, DiskTrouble>>
  readRecords(
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<Result<void, DiskTrouble>>
  /** Writing records takes this thread's own time, and hardly more than that. */
  readonly isQuick?: boolean
  /** The log is in so many places, or in such ones, that it should be made short. */
  readonly isScattered?: boolean
  /** The browser had thrown the database away, and this claim has put it together again. */
  readonly wasRestored?: boolean
  /** Resolves when the transaction is complete, not before. */
  write(write: DiskWrite): Promise<Result<void, DiskTrouble>>
  close(): void
}
