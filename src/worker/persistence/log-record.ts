import { checksum } from './checksum.ts'
import { LINE_BYTES, PAGE_BYTES, linesIn, type LineMask } from './dirty-lines.ts'
import type { FileMirror } from './file-mirror.ts'

/** Above 64 KiB Chromium moves a value to a file of its own, which a relaxed transaction does not sync. */
export const MAX_RECORD_BYTES = 60 * 1024

const FORMAT = 0x31464448 // "HDF1", little-endian
const HEADER_WORDS = 8
const ENTRY_WORDS = 3
const LINE_WORDS = LINE_BYTES / 4
const HEADER = {
  checksum: 0,
  format: 1,
  sequenceLow: 2,
  sequenceHigh: 3,
  filePages: 4,
  isLast: 5,
  entries: 6,
  epoch: 7,
}

export interface RecordHead {
  sequence: number
  /** Pages of the file once the flush that this record belongs to is applied. */
  filePages: number
  /** A flush is several records in one transaction: only behind the last of them the file is whole. */
  isLast: boolean
  /** Who wrote it: for people who look into a damaged log. */
  epoch: number
}

type Entry = [page: number, mask: LineMask]

const wordsOf = (entry: Entry) => ENTRY_WORDS + linesIn(entry[1]).length * LINE_WORDS

/** A page whose lines do not all fit into what is left of a record is moved whole to the next one. */
function groupEntries(entries: Entry[]): Entry[][] {
  const groups: Entry[][] = [[]]
  let words = HEADER_WORDS
  for (const entry of entries) {
    const more = wordsOf(entry)
    if ((words + more) * 4 > MAX_RECORD_BYTES) {
      groups.push([])
      words = HEADER_WORDS
    }
    groups.at(-1)?.push(entry)
    words += more
  }
  return groups
}

function encodeRecord(head: RecordHead, entries: Entry[], file: FileMirror): ArrayBuffer {
  const words = new Uint32Array(entries.reduce((sum, entry) => sum + wordsOf(entry), HEADER_WORDS))
  words[HEADER.format] = FORMAT
  words[HEADER.sequenceLow] = head.sequence >>> 0
  words[HEADER.sequenceHigh] = Math.floor(head.sequence / 2 ** 32)
  words[HEADER.filePages] = head.filePages
  words[HEADER.isLast] = head.isLast ? 1 : 0
  words[HEADER.entries] = entries.length
  words[HEADER.epoch] = head.epoch
  let at = HEADER_WORDS
  for (const [page, mask] of entries) {
    words.set([page, mask.low, mask.high], at)
    at += ENTRY_WORDS
    const pageWords = file.wordsOfPage(page)
    for (const line of linesIn(mask)) {
      const from = line * LINE_WORDS
      for (let word = 0; word < LINE_WORDS; word++) words[at + word] = pageWords[from + word] ?? 0
      at += LINE_WORDS
    }
  }
  words[HEADER.checksum] = checksum(words.subarray(1))
  return words.buffer
}

/** A record as it goes to the disk. */
export interface LogChunk {
  sequence: number
  bytes: ArrayBuffer
  pages: number[]
  /** How long the file is with it; by the time it is written, the file in memory may have moved on. */
  fileBytes: number
}

/** Everything that changed since the last call, as the records of one flush. */
export function encodeChanges(file: FileMirror, first: { sequence: number; epoch: number }): LogChunk[] {
  const groups = groupEntries(file.takeChanges())
  const filePages = Math.ceil(file.size / PAGE_BYTES)
  return groups.map((entries, index) => {
    const head = {
      sequence: first.sequence + index,
      filePages,
      isLast: index === groups.length - 1,
      epoch: first.epoch,
    }
    const pages = entries.map(([page]) => page)
    return { sequence: head.sequence, bytes: encodeRecord(head, entries, file), pages, fileBytes: file.size }
  })
}

export type RecordFault = 'short' | 'checksum' | 'format'
export interface LogRecord {
  head: RecordHead
  words: Uint32Array<ArrayBuffer>
}
export type DecodedRecord = LogRecord | { fault: RecordFault }

export function decodeRecord(stored: ArrayBuffer): DecodedRecord {
  if (stored.byteLength < HEADER_WORDS * 4 || stored.byteLength % 4 !== 0) return { fault: 'short' }
  const words = new Uint32Array(stored)
  if (checksum(words.subarray(1)) !== words[HEADER.checksum]) return { fault: 'checksum' }
  if (words[HEADER.format] !== FORMAT) return { fault: 'format' }
  const at = (index: number) => words[index] ?? 0
  return {
    head: {
      sequence: at(HEADER.sequenceHigh) * 2 ** 32 + at(HEADER.sequenceLow),
      filePages: at(HEADER.filePages),
      isLast: at(HEADER.isLast) === 1,
      epoch: at(HEADER.epoch),
    },
    words,
  }
}

/** Lays the record's lines over the file. Returns the pages it touched. */
export function applyRecord({ head, words }: LogRecord, file: FileMirror): number[] {
  const bytes = new Uint8Array(words.buffer)
  const pages: number[] = []
  let at = HEADER_WORDS
  for (let left = words[HEADER.entries] ?? 0; left > 0; left--) {
    const page = words[at] ?? 0
    const lines = linesIn({ low: words[at + 1] ?? 0, high: words[at + 2] ?? 0 })
    at += ENTRY_WORDS
    for (const line of lines) {
      file.load(page * PAGE_BYTES + line * LINE_BYTES, bytes.subarray(at * 4, at * 4 + LINE_BYTES))
      at += LINE_WORDS
    }
    pages.push(page)
  }
  if (head.isLast) file.loadSize(head.filePages * PAGE_BYTES)
  return pages
}
