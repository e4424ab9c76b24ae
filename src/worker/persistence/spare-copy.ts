import { checksum } from './checksum.ts'
import { EXTENT_BYTES, type DiskState, type StoredPiece } from './disk.ts'
import type { LogFile, LogFolder } from './log-folder.ts'

const MAGIC = 0x53464448 // "HDFS", little-endian
const HEADER_WORDS = 4
const HEADER = { checksum: 0, magic: 1, turn: 2, bytes: 3 }
/** The state is written to one and the other in turn, so that one that is torn leaves the one before. */
const SLOT_BYTES = 8 * 1024

interface Slot {
  turn: number
  state: DiskState | null
}

/**
 * What the browser's database holds beside the log, once more, in files. A browser that finds its database damaged throws all of it
 * away and begins an empty one; Chromium finds it so when it was killed in the middle of a write of its own, and it went on
 * writing behind that. With the log in files as well, everything can be put together again.
 *
 * The extents are written in place, as they are in the database: what they differ in from the ones before is in the log behind the
 * head, so that it does not matter how much of them is on the disk until the head moves.
 */
export class SpareCopy {
  readonly #base: LogFile
  readonly #states: LogFile
  #slot: Slot

  private constructor(base: LogFile, states: LogFile) {
    this.#base = base
    this.#states = states
    this.#slot = [readSlot(states, 0), readSlot(states, 1)].reduce((one, other) =>
      other.turn > one.turn ? other : one,
    )
  }

  static async open(folder: LogFolder): Promise<SpareCopy> {
    const base = await folder.open('base')
    try {
      return new SpareCopy(base, await folder.open('state'))
    } catch (error) {
      base.close()
      throw error
    }
  }

  /** What it is good for; null when it is not. */
  get state(): DiskState | null {
    return this.#slot.state
  }

  /** There was a database once, whatever has become of it. */
  get wasEverKept(): boolean {
    return this.#slot.turn > 0
  }

  /** From here on it is good for this: all extents that belong to it were written before. */
  keep(state: DiskState): void {
    // What was there before an import is in the database only.
    this.#write({ ...state, previous: null })
  }

  /** It is good for nothing until it is kept again. */
  drop(): void {
    if (this.#slot.state !== null) this.#write(null)
  }

  writeExtents(extents: readonly StoredPiece[]): void {
    for (const { index, bytes } of extents) this.#base.write(new Uint8Array(bytes), index * EXTENT_BYTES)
    // A little each time, so that nobody has to wait for much when the head moves.
    this.#base.flush()
  }

  /** Those that are there in full, of the ones from `first` on. */
  readExtents(first: number, count: number): StoredPiece[] {
    const pieces: StoredPiece[] = []
    const whole = Math.floor(this.#base.size() / EXTENT_BYTES)
    for (let index = first; index < Math.min(first + count, whole); index += 1) {
      const bytes = new Uint8Array(EXTENT_BYTES)
      this.#base.read(bytes, index * EXTENT_BYTES)
      pieces.push({ index, bytes: bytes.buffer })
    }
    return pieces
  }

  close(): void {
    this.#base.close()
    this.#states.close()
  }

  #write(state: DiskState | null): void {
    const slot = { turn: this.#slot.turn + 1, state }
    this.#states.write(encodeSlot(slot), (slot.turn % 2) * SLOT_BYTES)
    this.#states.flush()
    this.#slot = slot
  }
}

function encodeSlot({ turn, state }: Slot): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(state))
  const words = HEADER_WORDS + Math.ceil(text.length / 4)
  if (words * 4 > SLOT_BYTES) throw new Error('The state is too long for its place.')
  const bytes = new Uint8Array(words * 4)
  const header = new Uint32Array(bytes.buffer)
  header[HEADER.magic] = MAGIC
  header[HEADER.turn] = turn
  header[HEADER.bytes] = text.length
  bytes.set(text, HEADER_WORDS * 4)
  header[HEADER.checksum] = checksum(header.subarray(1))
  return bytes
}

function readSlot(file: LogFile, slot: number): Slot {
  const nothing = { turn: slot - 2, state: null }
  const bytes = new Uint8Array(SLOT_BYTES)
  file.read(bytes, slot * SLOT_BYTES)
  const words = new Uint32Array(bytes.buffer)
  const length = words[HEADER.bytes] ?? 0
  const end = HEADER_WORDS + Math.ceil(length / 4)
  if (words[HEADER.magic] !== MAGIC || end > words.length) return nothing
  if (checksum(words.subarray(1, end)) !== words[HEADER.checksum]) return nothing
  const text = new TextDecoder().decode(bytes.subarray(HEADER_WORDS * 4, HEADER_WORDS * 4 + length))
  return { turn: words[HEADER.turn] ?? 0, state: JSON.parse(text) as DiskState | null }
}
