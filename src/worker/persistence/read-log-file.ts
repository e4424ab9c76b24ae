import type { StoredPiece } from './disk.ts'
import type { LogFile } from './log-folder.ts'
import { decodeFrame, encodeFrame, isOwnedBy, wasSynced, type FrameOwner } from './log-frame.ts'

/** Says whose the file is from here on. With it on the disk the file can be told from one that was lost. */
export const firstFrame = (owner: FrameOwner, first: number): Uint8Array<ArrayBuffer> =>
  encodeFrame({ owner, syncedBefore: first, records: [] })

interface Stretch {
  owner: FrameOwner
  /** The next record that is needed. */
  from: number
  /** Where the next piece of the log begins: what an owner that was overtaken still wrote does not count. */
  until: number
}

export function readWhole(file: LogFile): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0)
  return bytes
}

/** Whose the file is, and from which record on; null when it says nothing. */
export function readFirstFrame(bytes: Uint8Array<ArrayBuffer>): { owner: FrameOwner; first: number } | null {
  const found = decodeFrame(bytes, 0)
  return found && { owner: found.frame.owner, first: found.frame.syncedBefore }
}

/**
 * Hands over the records of a stretch and returns the number after the last one. What can be shown to have been on the disk
 * and cannot be read is handed over empty, so that nobody takes what is left for the whole.
 */
export function readLogFile(
  bytes: Uint8Array<ArrayBuffer>,
  { owner, from, until }: Stretch,
  onPiece: (piece: StoredPiece) => void,
): number {
  let next = from
  let at = 0
  for (;;) {
    const found = decodeFrame(bytes, at)
    if (found === null || !isOwnedBy(found.frame, owner)) break
    for (const record of found.frame.records) {
      // What was sent twice is there twice.
      if (record.index < next) continue
      if (record.index >= until) return next
      onPiece(record)
      next = record.index + 1
    }
    at = found.end
  }
  // A tail that was never synced may be torn: nobody was told that it is there.
  const isLost = at === 0 || (until !== Infinity && next < until) || wasSynced(bytes, at, owner, next)
  if (isLost) onPiece({ index: next, bytes: new ArrayBuffer(0) })
  return next
}
