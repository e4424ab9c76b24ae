import { EXTENT_BYTES, type DiskState, type StoredPiece } from './disk.ts'
import type { LogFile, LogFolder } from './log-folder.ts'
import { TextInTurn } from './text-in-turn.ts'

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
  readonly #words: TextInTurn
  #state: DiskState | null

  private constructor(base: LogFile, words: TextInTurn) {
    this.#base = base
    this.#words = words
    this.#state = JSON.parse(words.text ?? 'null') as DiskState | null
  }

  static async open(folder: LogFolder): Promise<SpareCopy> {
    const base = await folder.open('base')
    try {
      return new SpareCopy(base, await TextInTurn.open(folder, 'state'))
    } catch (error) {
      base.close()
      throw error
    }
  }

  /** What it is good for; null when it is not. */
  get state(): DiskState | null {
    return this.#state
  }

  /** There was a database once, whatever has become of it. */
  get wasEverKept(): boolean {
    return this.#words.text !== null
  }

  /** From here on it is good for this: all extents that belong to it were written before. */
  keep(state: DiskState): void {
    // What was there before an import is in the database only.
    this.#write({ ...state, previous: null })
  }

  /** It is good for nothing until it is kept again. */
  drop(): void {
    if (this.#state !== null) this.#write(null)
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
    this.#words.close()
  }

  #write(state: DiskState | null): void {
    this.#words.write(JSON.stringify(state))
    this.#state = state
  }
}
