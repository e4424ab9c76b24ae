import { err, ok, type Result } from '#engine/model/result.ts'
import { attemptNow } from './attempt-file.ts'
import type { Disk, DiskTrouble, Epoch } from './disk.ts'
import type { LogFile } from './log-folder.ts'

/**
 * A tab may have been frozen, and overtaken by one that could not open the files, and so has left no mark there. So long an answer of
 * the database is good for: nobody takes over from a tab that was heard of a moment ago.
 */
const SURE_MS = 1_000
/** How often it is asked for when it comes too late to be good for anything. */
const MOST_QUESTIONS = 5

export const OVERTAKEN: DiskTrouble = { kind: 'fenced', reason: 'Another owner has come.' }

export interface Claim {
  epoch: Epoch
  /** Nobody came right behind. */
  isLatest: boolean
  /** Since the last mark somebody was the owner who did not have the files. */
  hadStranger: boolean
}

/**
 * Who owns what is in files. The database says so by its epoch, and a file by its length: each owner makes it longer, so that
 * whoever has written elsewhere sees in the same turn whether another has come.
 */
export class FileOwner {
  readonly #database: Disk
  readonly #now: () => number
  #marks: LogFile | null = null
  #epoch: Epoch = 0
  /** When this was the owner for certain. */
  #sureAt = 0
  #isClaimed = false

  constructor(database: Disk, now: () => number) {
    this.#database = database
    this.#now = now
  }

  get isClaimed(): boolean {
    return this.#isClaimed
  }

  useMarks(file: LogFile | null): void {
    this.#marks = file
  }

  async claim(): Promise<Result<Claim, DiskTrouble>> {
    const before = await this.#database.readEpoch()
    if (!before.ok) return before
    const next = before.value + 1
    const marks = attemptNow(() => this.#marks?.size() ?? 0)
    if (!marks.ok) return marks
    // Behind all owners that there ever were, also when the database counts from the beginning again.
    const least = Math.max(next, marks.value)
    // First here, then there: a mark that is missing means that somebody came who did not have the files.
    const announced = attemptNow(() => this.#mark(least))
    if (!announced.ok) return announced
    const claimed = await this.#database.claim(least)
    if (!claimed.ok) return claimed
    const epoch = claimed.value
    this.#isClaimed = true
    this.#sureAt = this.#now()
    this.#epoch = epoch
    const marked = attemptNow(() => {
      this.#mark(epoch)
      return this.isOwner()
    })
    return marked.ok ? ok({ epoch, isLatest: marked.value, hadStranger: next > marks.value }) : marked
  }

  isOwner(): boolean {
    return this.#marks?.size() === this.#epoch + 1
  }

  /** The answer may be old as well: a tab can be frozen while it waits for it. */
  async makeSure(): Promise<Result<void, DiskTrouble>> {
    for (let asked = 0; asked <= MOST_QUESTIONS; asked += 1) {
      const askedAt = this.#now()
      if (Math.abs(askedAt - this.#sureAt) < SURE_MS) return ok(undefined)
      const found = await this.#database.readEpoch()
      if (!found.ok) return found
      if (found.value > this.#epoch) return err(OVERTAKEN)
      if (found.value < this.#epoch) return err({ kind: 'deleted', reason: 'The stored data is gone.' })
      this.#sureAt = askedAt
    }
    return err({ kind: 'lost', reason: 'The database takes too long to say who owns it.' })
  }

  close(): void {
    this.#marks?.close()
    this.#marks = null
  }

  /** Only ever longer, whoever is first: two that claim at once cannot undo each other's mark. */
  #mark(epoch: Epoch): void {
    this.#marks?.write(new Uint8Array([1]), epoch)
  }
}
