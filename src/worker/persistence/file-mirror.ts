/// <reference lib="es2024.arraybuffer" />
import { LINE_BYTES, PAGE_BYTES, DirtyLines, type LineMask } from './dirty-lines.ts'

/** Address space set aside, not memory: the buffer grows in place up to here without being copied. */
const LARGEST_IN_PLACE = 2 ** 31
const GROWTH_STEP = 2 ** 20
const WORDS_PER_LINE = LINE_BYTES / 4

const allocate = (bytes: number): ArrayBuffer => {
  try {
    return new ArrayBuffer(bytes, { maxByteLength: LARGEST_IN_PLACE })
  } catch {
    return new ArrayBuffer(bytes)
  }
}

/**
 * The database file as last committed, and which of its lines are not yet on disk.
 *
 * sql.js copies the bytes it is given with `bytes.slice()`. `offer()` answers that call with a view of this very buffer, so
 * the in-memory file and the mirror are the same memory: no second copy, and the old content of a line is at hand when the
 * new one arrives. This is an economy, never an assumption: whoever writes checks that the bytes arrived (`absorb`).
 */
export class FileMirror {
  readonly #dirty = new DirtyLines()
  #buffer: ArrayBuffer
  #bytes: Uint8Array<ArrayBuffer>
  /**
   * A page of the file, to be read word by word: in a buffer that may grow each word costs several times as much as in one that
   * does not, and the copy next to nothing.
   */
  readonly #page = new Uint8Array(PAGE_BYTES)
  readonly #pageWords = new Uint32Array(this.#page.buffer)
  #size: number
  #sizeOnDisk: number

  constructor(size = 0) {
    this.#buffer = allocate(Math.ceil(size / LINE_BYTES) * LINE_BYTES)
    this.#bytes = new Uint8Array(this.#buffer)
    this.#size = size
    this.#sizeOnDisk = size
  }

  get size(): number {
    return this.#size
  }

  get hasChanges(): boolean {
    return !this.#dirty.isEmpty || this.#size !== this.#sizeOnDisk
  }

  /** Hands over which lines are newer than on disk: from here on the caller answers for them. */
  takeChanges(): [page: number, mask: LineMask][] {
    this.#sizeOnDisk = this.#size
    return this.#dirty.take(this.#size)
  }

  /** Everything counts as changed: the disk is to be written anew from here. */
  markAll(): void {
    this.#dirty.markBytes(0, this.#size)
  }

  /** A view, valid until the next write. */
  view(from = 0, to = this.#size): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(from, Math.min(to, this.#size))
  }

  /** The words of a page, valid until the next call of anything here. */
  wordsOfPage(page: number): Uint32Array {
    const bytes = this.#bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
    this.#page.set(bytes)
    this.#page.fill(0, bytes.length)
    return this.#pageWords
  }

  /** A copy that may be kept and stored: storing a view would clone the whole buffer under it. */
  copy(from = 0, to = this.#size): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(from, Math.min(to, this.#size))
  }

  offer(): Uint8Array<ArrayBuffer> {
    const offered = new Uint8Array(this.#buffer, 0, this.#size)
    return Object.assign(offered, { slice: () => this.#bytes })
  }

  /** Leaves the memory to whoever adopted it and goes on with a copy. */
  moveAway(): void {
    this.#moveTo(this.#buffer.byteLength)
  }

  /** Makes room for `size` bytes before they are written, so that the file that adopted this memory need not move away. */
  reserve(size: number): void {
    if (size <= this.#buffer.byteLength) return
    const room = Math.ceil(Math.max(size, this.#buffer.byteLength * 1.125) / GROWTH_STEP) * GROWTH_STEP
    if (this.#buffer.resizable && room <= this.#buffer.maxByteLength) {
      this.#buffer.resize(room)
      return
    }
    this.#moveTo(room)
  }

  setSize(size: number): void {
    if (size > this.#size) this.#dirty.markBytes(this.#size, size)
    this.#resize(size)
  }

  /** A file that is not on disk yet. */
  begin(image: Uint8Array): void {
    this.load(0, image)
    this.markAll()
  }

  /** What is on disk already: nothing is marked. */
  load(at: number, bytes: Uint8Array): void {
    this.reserve(at + bytes.length)
    this.#bytes.set(bytes, at)
    this.#size = this.#sizeOnDisk = Math.max(this.#size, at + bytes.length)
  }

  /** How long the file on disk is. */
  loadSize(size: number): void {
    this.#resize(size)
    this.#sizeOnDisk = size
  }

  /** Marks the lines in which `incoming` differs from the file at `at`. Must run before the bytes are written. */
  compare(at: number, incoming: Uint8Array): void {
    this.reserve(at + incoming.length)
    const end = at + incoming.length
    // A hole that a longer file leaves reads as zeros; on disk something older may stand there.
    if (at > this.#size) this.#dirty.markBytes(this.#size, at)
    const isAligned = at % LINE_BYTES === 0 && incoming.length % LINE_BYTES === 0 && incoming.byteOffset % 4 === 0
    if (!isAligned) {
      this.#dirty.markBytes(at, end)
      return
    }
    for (let from = 0; from < incoming.length; from += PAGE_BYTES) {
      this.#comparePage(at + from, incoming.subarray(from, from + PAGE_BYTES))
    }
  }

  /** To be called after the bytes were written: copies them unless they arrived here by themselves. */
  absorb(at: number, incoming: Uint8Array): { wasThere: boolean } {
    this.reserve(at + incoming.length)
    this.#size = Math.max(this.#size, at + incoming.length)
    const wasThere = this.#holds(at, incoming)
    if (!wasThere) this.#bytes.set(incoming, at)
    return { wasThere }
  }

  #resize(size: number): void {
    this.reserve(size)
    // What lies beyond the end must read as zeros when the file grows over it again.
    if (size < this.#size) this.#bytes.fill(0, size, this.#size)
    this.#size = size
  }

  #moveTo(room: number): void {
    const before = this.#bytes
    this.#buffer = allocate(room)
    this.#bytes = new Uint8Array(this.#buffer)
    this.#bytes.set(before)
  }

  #comparePage(at: number, incoming: Uint8Array): void {
    const words = wordsOf(incoming)
    this.#page.set(this.#bytes.subarray(at, at + incoming.length))
    const firstLine = at / LINE_BYTES
    const knownLines = Math.ceil(Math.max(this.#size - at, 0) / LINE_BYTES)
    for (let line = 0; line * WORDS_PER_LINE < words.length; line++) {
      if (line >= knownLines || !this.#isSameLine(line, words)) this.#dirty.mark(firstLine + line)
    }
  }

  #isSameLine(line: number, incoming: Uint32Array): boolean {
    const own = this.#pageWords
    const end = (line + 1) * WORDS_PER_LINE
    for (let word = line * WORDS_PER_LINE; word < end; word++) if (own[word] !== incoming[word]) return false
    return true
  }

  #holds(at: number, incoming: Uint8Array): boolean {
    for (let from = 0; from < incoming.length; from += PAGE_BYTES) {
      if (!this.#holdsPage(at + from, incoming.subarray(from, from + PAGE_BYTES))) return false
    }
    return true
  }

  #holdsPage(at: number, incoming: Uint8Array): boolean {
    const own = this.#page
    own.set(this.#bytes.subarray(at, at + incoming.length))
    const areWords = incoming.length % 4 === 0 && incoming.byteOffset % 4 === 0
    return areWords ? areSame(this.#pageWords, wordsOf(incoming)) : areSame(own, incoming)
  }
}

const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length / 4)

/** As far as `incoming` goes. */
const areSame = <Numbers extends Uint8Array | Uint32Array>(own: Numbers, incoming: Numbers): boolean => {
  for (let n = 0; n < incoming.length; n++) if (own[n] !== incoming[n]) return false
  return true
}
