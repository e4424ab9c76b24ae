import { checksum } from './checksum.ts'
import type { LogFile, LogFolder } from './log-folder.ts'

const MAGIC = 0x54464448 // "HDFT", little-endian
const HEADER_WORDS = 4
const HEADER = { checksum: 0, magic: 1, turn: 2, bytes: 3 }

interface Turn {
  turn: number
  text: string | null
}

/** A text in two files that are written in turn: one that is torn leaves the text before it. */
export class TextInTurn {
  readonly #files: readonly [LogFile, LogFile]
  #last: Turn

  private constructor(files: readonly [LogFile, LogFile]) {
    this.#files = files
    const [one, other] = [readTurn(files[0]), readTurn(files[1])]
    this.#last = other.turn > one.turn ? other : one
  }

  static async open(folder: LogFolder, name: string): Promise<TextInTurn> {
    const first = await folder.open(`${name}-0`)
    try {
      return new TextInTurn([first, await folder.open(`${name}-1`)])
    } catch (error) {
      first.close()
      throw error
    }
  }

  /** Null when none was ever written. */
  get text(): string | null {
    return this.#last.text
  }

  /** It is on the disk when this returns. */
  write(text: string): void {
    const next = { turn: this.#last.turn + 1, text }
    const file = this.#files[next.turn % 2 === 0 ? 0 : 1]
    file.write(encodeTurn(next), 0)
    file.flush()
    this.#last = next
  }

  close(): void {
    for (const file of this.#files) file.close()
  }
}

function encodeTurn({ turn, text }: { turn: number; text: string }): Uint8Array<ArrayBuffer> {
  const utf8 = new TextEncoder().encode(text)
  const bytes = new Uint8Array((HEADER_WORDS + Math.ceil(utf8.length / 4)) * 4)
  const words = new Uint32Array(bytes.buffer)
  words[HEADER.magic] = MAGIC
  words[HEADER.turn] = turn
  words[HEADER.bytes] = utf8.length
  bytes.set(utf8, HEADER_WORDS * 4)
  words[HEADER.checksum] = checksum(words.subarray(1))
  return bytes
}

function readTurn(file: LogFile): Turn {
  const nothing: Turn = { turn: 0, text: null }
  const bytes = new Uint8Array(Math.floor(file.size() / 4) * 4)
  file.read(bytes, 0)
  const words = new Uint32Array(bytes.buffer)
  const length = words[HEADER.bytes] ?? 0
  const end = HEADER_WORDS + Math.ceil(length / 4)
  if (words[HEADER.magic] !== MAGIC || end > words.length) return nothing
  if (checksum(words.subarray(1, end)) !== words[HEADER.checksum]) return nothing
  const text = new TextDecoder().decode(bytes.subarray(HEADER_WORDS * 4, HEADER_WORDS * 4 + length))
  return { turn: words[HEADER.turn] ?? 0, text }
}
