import { err, ok, type Result } from '#engine/model/result.ts'
import { PAGE_BYTES } from './dirty-lines.ts'
import { EXTENT_BYTES, type Disk, type DiskTrouble, type Generation } from './disk.ts'
import { FileMirror } from './file-mirror.ts'
import { extentOfPage, type LogExtent } from './folding.ts'
import { applyRecord, decodeRecord, type DecodedRecord } from './log-record.ts'

export interface StoredDatabase extends LogExtent {
  file: FileMirror
  nextSequence: number
  /** What is wrong with it, in words; empty when it is whole. */
  damage: string[]
}

/** Best effort, for a database that cannot be opened: everything up to the first thing that is damaged. Changes nothing. */
export async function salvage(disk: Disk): Promise<Result<Uint8Array<ArrayBuffer>, DiskTrouble>> {
  const connected = await disk.connect()
  if (!connected.ok) return connected
  const state = await disk.readState()
  if (!state.ok) return state
  const from = state.value ? ok(state.value) : await guessGeneration(disk)
  if (!from.ok) return from
  const stored = await readStored(disk, from.value)
  return stored.ok ? ok(stored.value.file.copy()) : stored
}

/** When nothing says which pieces belong together: the newest, as far as they go. */
export async function guessGeneration(disk: Disk): Promise<Result<Generation, DiskTrouble>> {
  const newest = await disk.newestGeneration()
  if (!newest.ok) return newest
  const guess: Generation = { generation: newest.value, head: 1, baseBytes: 0 }
  const extents = await disk.readExtents(guess.generation, ({ index }) => {
    guess.baseBytes = (index + 1) * EXTENT_BYTES
  })
  if (!extents.ok) return extents
  const indexes: number[] = []
  const records = await disk.readRecords(guess.generation, 0, ({ index }) => indexes.push(index))
  return records.ok ? ok({ ...guess, head: indexes[0] ?? 1 }) : records
}

/**
 * Extents first, then the log over them. Stops at the first thing that does not fit: what is in `file` then is the best that
 * can be had, and `damage` says that it must not be used as if it were whole.
 */
export async function readStored(disk: Disk, from: Generation): Promise<Result<StoredDatabase, DiskTrouble>> {
  const stored: StoredDatabase = {
    file: new FileMirror(),
    nextSequence: from.head,
    logBytes: 0,
    changedExtents: new Set(),
    damage: [],
  }
  const extents = await readBase(disk, from, stored)
  if (!extents.ok) return extents
  const records = await readLog(disk, from, stored)
  if (!records.ok) return records
  if (from.lostFrom !== undefined) stored.damage.unshift(lossInWords(from.lostFrom))
  if (stored.file.size % PAGE_BYTES !== 0)
    stored.damage.push(`The file is ${stored.file.size} bytes long: not whole pages.`)
  return ok(stored)
}

const lossInWords = (lostFrom: number): string =>
  lostFrom === 1
    ? 'The browser has thrown away what was stored.'
    : `The browser has thrown away what was stored since entry ${lostFrom} of the log.`

async function readBase(
  disk: Disk,
  from: Generation,
  { file, damage }: StoredDatabase,
): Promise<Result<void, DiskTrouble>> {
  file.loadSize(from.baseBytes)
  const seen = new Set<number>()
  const read = await disk.readExtents(from.generation, ({ index, bytes }) => {
    const start = index * EXTENT_BYTES
    const needed = Math.min(EXTENT_BYTES, from.baseBytes - start)
    // A fold that was not finished may have left extents further out: everything in them is in the log as well.
    if (needed <= 0) return
    if (bytes.byteLength !== EXTENT_BYTES) damage.push(`Piece ${index} of the database has ${bytes.byteLength} bytes.`)
    file.load(start, new Uint8Array(bytes, 0, Math.min(needed, bytes.byteLength)))
    seen.add(index)
  })
  if (!read.ok) return err(read.error)
  for (let index = 0; index * EXTENT_BYTES < from.baseBytes; index++) {
    if (!seen.has(index)) damage.push(`Piece ${index} of the database is missing.`)
  }
  file.loadSize(from.baseBytes)
  return read
}

async function readLog(disk: Disk, from: Generation, stored: StoredDatabase): Promise<Result<void, DiskTrouble>> {
  const replay = { isWhole: true, hasEnded: false }
  const read = await disk.readRecords(from.generation, from.head, ({ index, bytes }) => {
    if (replay.hasEnded) return
    const record = decodeRecord(bytes)
    const fault = faultOf(record, index, stored.nextSequence)
    if (fault !== null || 'fault' in record) {
      stored.damage.push(fault ?? '')
      replay.hasEnded = true
      return
    }
    for (const page of applyRecord(record, stored.file)) stored.changedExtents.add(extentOfPage(page))
    replay.isWhole = record.head.isLast
    stored.logBytes += bytes.byteLength
    stored.nextSequence++
  })
  if (!replay.isWhole && !replay.hasEnded) stored.damage.push('The log ends in the middle of a flush.')
  return read
}

function faultOf(record: DecodedRecord, index: number, expected: number): string | null {
  if (index !== expected) return `The log jumps from entry ${expected - 1} to entry ${index}.`
  if ('fault' in record) return `Entry ${index} of the log is damaged (${record.fault}).`
  if (record.head.sequence !== index) return `Entry ${index} of the log says it is entry ${record.head.sequence}.`
  return null
}
