import { checksum } from './checksum.ts'
import type { StoredPiece } from './disk.ts'
import { decodeRecord } from './log-record.ts'

/** Frames begin at multiples of this, so that they are found again behind one that cannot be read. */
const FRAME_ALIGNMENT = 64
const MAGIC = 0x46464448 // "HDFF", little-endian
const HEADER_WORDS = 10
const ENTRY_WORDS = 3
const HEADER = {
  checksum: 0,
  magic: 1,
  bytes: 2,
  generation: 3,
  epoch: 4,
  mark: 5,
  syncedLow: 6,
  syncedHigh: 7,
  records: 8,
}

/** Whose frames these are. A file is used again and again, and holds older ones behind. */
export interface FrameOwner {
  generation: number
  epoch: number
  /** Drawn by lot: no two are the same, whatever was deleted and begun anew. */
  mark: number
}

/** What goes to a file at once: all of it is there afterwards, or it is as if nothing were. */
export interface Frame {
  owner: FrameOwner
  /** All records before this one were on the disk when the frame was written. */
  syncedBefore: number
  records: readonly StoredPiece[]
}

const low = (value: number): number => value >>> 0
const high = (value: number): number => Math.floor(value / 2 ** 32)
const join = (lowWord = 0, highWord = 0): number => highWord * 2 ** 32 + lowWord
const wordsFor = (bytes: number): number => Math.ceil(bytes / 4)
const headWords = (records: number): number => HEADER_WORDS + records * ENTRY_WORDS

export function encodeFrame({ owner, syncedBefore, records }: Frame): Uint8Array<ArrayBuffer> {
  const head = headWords(records.length)
  const words = records.reduce((sum, { bytes }) => sum + wordsFor(bytes.byteLength), head)
  const length = Math.ceil((words * 4) / FRAME_ALIGNMENT) * FRAME_ALIGNMENT
  const bytes = new Uint8Array(length)
  const view = new Uint32Array(bytes.buffer)
  view[HEADER.magic] = MAGIC
  view[HEADER.bytes] = length
  view[HEADER.generation] = owner.generation
  view[HEADER.epoch] = owner.epoch
  view[HEADER.mark] = owner.mark
  view[HEADER.syncedLow] = low(syncedBefore)
  view[HEADER.syncedHigh] = high(syncedBefore)
  view[HEADER.records] = records.length
  let at = head
  for (const [n, record] of records.entries()) {
    const { byteLength } = record.bytes
    view.set([low(record.index), high(record.index), byteLength], HEADER_WORDS + n * ENTRY_WORDS)
    bytes.set(new Uint8Array(record.bytes), at * 4)
    at += wordsFor(byteLength)
  }
  // The records have checksums of their own.
  view[HEADER.checksum] = checksum(view.subarray(1, head))
  return bytes
}

/** The frame that begins at `at`, if one does and all of it is there. */
export function decodeFrame(file: Uint8Array<ArrayBuffer>, at: number): { frame: Frame; end: number } | null {
  if (at + HEADER_WORDS * 4 > file.length) return null
  const words = new Uint32Array(file.buffer, at, Math.floor((file.length - at) / 4))
  const length = words[HEADER.bytes] ?? 0
  const count = words[HEADER.records] ?? 0
  const head = headWords(count)
  if (words[HEADER.magic] !== MAGIC || at + length > file.length || head * 4 > length) return null
  if (checksum(words.subarray(1, head)) !== words[HEADER.checksum]) return null
  const records = decodeRecords(words, count, length)
  if (records === null) return null
  const owner = {
    generation: words[HEADER.generation] ?? 0,
    epoch: words[HEADER.epoch] ?? 0,
    mark: words[HEADER.mark] ?? 0,
  }
  const syncedBefore = join(words[HEADER.syncedLow], words[HEADER.syncedHigh])
  return { frame: { owner, syncedBefore, records }, end: at + length }
}

function decodeRecords(words: Uint32Array<ArrayBuffer>, count: number, length: number): StoredPiece[] | null {
  const records: StoredPiece[] = []
  let from = headWords(count) * 4
  for (let n = 0; n < count; n++) {
    const [indexLow, indexHigh, bytes = 0] = words.subarray(HEADER_WORDS + n * ENTRY_WORDS)
    if (from + bytes > length) return null
    const start = words.byteOffset + from
    const piece = { index: join(indexLow, indexHigh), bytes: words.buffer.slice(start, start + bytes) }
    if ('fault' in decodeRecord(piece.bytes)) return null
    records.push(piece)
    from += wordsFor(bytes) * 4
  }
  return records
}

export const isOwnedBy = (frame: Frame, { generation, epoch, mark }: FrameOwner): boolean =>
  frame.owner.generation === generation && frame.owner.epoch === epoch && frame.owner.mark === mark

/** Whether a frame behind `at` shows that something before `record` was on the disk once. */
export function wasSynced(file: Uint8Array<ArrayBuffer>, from: number, owner: FrameOwner, record: number): boolean {
  for (let at = from; at + HEADER_WORDS * 4 <= file.length; at += FRAME_ALIGNMENT) {
    const [magic] = new Uint32Array(file.buffer, at + HEADER.magic * 4, 1)
    const found = magic === MAGIC ? decodeFrame(file, at) : null
    if (found && isOwnedBy(found.frame, owner) && found.frame.syncedBefore > record) return true
  }
  return false
}
