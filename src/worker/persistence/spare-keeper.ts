import { ok, type Result } from '#engine/model/result.ts'
import { attemptNow } from './attempt-file.ts'
import {
  EXTENT_BYTES,
  type Disk,
  type DiskState,
  type DiskTrouble,
  type DiskWrite,
  type Epoch,
  type StoredPiece,
} from './disk.ts'
import { restoreFrom } from './restore-database.ts'
import type { SpareCopy } from './spare-copy.ts'

type OnPiece = (piece: StoredPiece) => void

/**
 * Keeps the spare copy up with the database: what has been written there is written here next, and what is read there for the first time
 * is copied. A copy that may lack something is dropped, and made anew on the next opening: it is no reason to stop.
 */
export class SpareKeeper {
  readonly #spare: SpareCopy
  readonly #database: Disk
  readonly #isOwner: () => boolean
  /** The generation of which all extents are in the copy. */
  #copied: number | null = null
  #state: DiskState | null = null
  #wasRestored = false

  constructor(spare: SpareCopy, database: Disk, isOwner: () => boolean) {
    this.#spare = spare
    this.#database = database
    this.#isOwner = isOwner
  }

  /** The browser had thrown the database away. */
  get wasRestored(): boolean {
    return this.#wasRestored
  }

  /** `isOld`: since the copy was kept, somebody was the owner who did not have it. */
  async takeOver(epoch: Epoch, { isOld }: { isOld: boolean }): Promise<Result<void, DiskTrouble>> {
    if (isOld) this.#drop()
    // Without a state there is no database; if there was one once, it is gone.
    if (!this.#spare.wasEverKept) return ok(undefined)
    const found = await this.#database.readState()
    if (!found.ok) return found
    if (found.value) return ok(undefined)
    const restored = await restoreFrom(this.#spare, this.#database, epoch)
    if (restored.ok) this.#wasRestored = restored.value
    return restored.ok ? ok(undefined) : restored
  }

  /** What is in the database. Whoever was here before may have died before the copy was told. */
  adopt(state: DiskState): void {
    this.#state = state
    if (this.#spare.state?.generation !== state.generation) return
    this.#copied = state.generation
    this.note({ generation: state.generation, state })
  }

  /** From the copy where there is one: the same bytes come out of files in a fraction of the time. */
  async readExtents(generation: number, onPiece: OnPiece): Promise<Result<void, DiskTrouble>> {
    if (this.#state !== null && this.#state.generation !== generation) {
      return this.#database.readExtents(generation, onPiece)
    }
    if (this.#copied !== generation) return this.#copyExtents(generation, onPiece)
    return this.#readCopy(onPiece) ? ok(undefined) : this.#database.readExtents(generation, onPiece)
  }

  async #copyExtents(generation: number, onPiece: OnPiece): Promise<Result<void, DiskTrouble>> {
    const failures: DiskTrouble[] = []
    const read = await this.#database.readExtents(generation, (piece) => {
      onPiece(piece)
      const copied = attemptNow(() => this.#spare.writeExtents([piece]))
      if (!copied.ok) failures.push(copied.error)
    })
    if (!read.ok || failures.length > 0) return read
    this.#copied = generation
    if (this.#state) this.note({ generation, state: this.#state })
    return read
  }

  /** False when it cannot be read, or something is missing. */
  #readCopy(onPiece: OnPiece): boolean {
    const count = Math.ceil((this.#state?.baseBytes ?? 0) / EXTENT_BYTES)
    const read = attemptNow(() => {
      for (let index = 0; index < count; index += 1) {
        const [piece] = this.#spare.readExtents(index, 1)
        if (piece === undefined) return false
        onPiece(piece)
      }
      return true
    })
    return read.ok && read.value
  }

  /** Has been written to the database. */
  note({ generation, extents, state }: Pick<DiskWrite, 'generation' | 'extents' | 'state'>): void {
    if (this.#copied === null) return
    const noted = attemptNow(() => {
      // Whoever was overtaken while the database wrote must not undo what the next one has written here.
      if (!this.#isOwner()) return true
      if (extents && generation === this.#copied) this.#spare.writeExtents(extents)
      if (state && state.generation !== this.#copied) return false
      if (state) this.#spare.keep(state)
      return true
    })
    if (!noted.ok || !noted.value) this.#drop()
  }

  close(): void {
    this.#spare.close()
  }

  #drop(): void {
    this.#copied = null
    attemptNow(() => this.#spare.drop())
  }
}
