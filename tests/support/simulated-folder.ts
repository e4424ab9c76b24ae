import type { LogFile, LogFolder } from '#worker/persistence/log-folder.ts'
import { createSeededRandom } from './seeded-random.ts'

const SECTOR_BYTES = 512

interface StoredFile {
  /** As every program sees it. */
  seen: Uint8Array<ArrayBuffer>
  /** As it is on the platters. */
  synced: Uint8Array<ArrayBuffer>
  unsynced: { at: number; bytes: Uint8Array<ArrayBuffer> }[]
}

const resized = (bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> => {
  const copy = new Uint8Array(size)
  copy.set(bytes.subarray(0, size))
  return copy
}

const laidOver = (file: Uint8Array<ArrayBuffer>, at: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
  const result = resized(file, Math.max(file.length, at + bytes.length))
  result.set(bytes, at)
  return result
}

/** Files that outlive programs. What was not flushed survives their death, but of a loss of power only parts of it. */
export class SimulatedFiles {
  readonly files = new Map<string, StoredFile>()
  readonly #random

  constructor(seed = 1) {
    this.#random = createSeededRandom(seed)
  }

  losePower(): void {
    for (const file of this.files.values()) {
      // In any order, some not at all, some torn between two sectors.
      for (const { at, bytes } of file.unsynced) {
        const fate = this.#random.below(3)
        const kept =
          fate === 0 ? 0 : fate === 1 ? bytes.length : this.#random.below(bytes.length / SECTOR_BYTES) * SECTOR_BYTES
        if (kept > 0) file.synced = laidOver(file.synced, at, bytes.subarray(0, kept))
      }
      file.unsynced = []
      file.seen = resized(file.synced, file.synced.length)
    }
  }

  /** As one program has it. `step` is told of everything that is asked, and may throw instead of letting it happen. */
  openedBy(step: <T>(work: () => T) => T): LogFolder {
    return {
      open: (name) => Promise.resolve(step(() => this.#open(name, step))),
    }
  }

  #open(name: string, step: <T>(work: () => T) => T): LogFile {
    const file = this.files.get(name) ?? { seen: new Uint8Array(), synced: new Uint8Array(), unsynced: [] }
    this.files.set(name, file)
    return {
      size: () => step(() => file.seen.length),
      read: (into, at) => step(() => into.set(file.seen.subarray(at, at + into.length))),
      write: (bytes, at) =>
        step(() => {
          const copy = resized(bytes, bytes.length)
          file.seen = laidOver(file.seen, at, copy)
          file.unsynced.push({ at, bytes: copy })
        }),
      flush: () =>
        step(() => {
          file.synced = resized(file.seen, file.seen.length)
          file.unsynced = []
        }),
      truncate: (size) =>
        step(() => {
          file.seen = resized(file.seen, size)
          file.synced = resized(file.synced, Math.min(size, file.synced.length))
        }),
      close: () => undefined,
    }
  }
}
