import type { Database } from './database.ts'

/**
 * The earliest of the times of one table that are still to come. It is asked for after every attempt and hardly ever another one:
 * what was found stays the answer until its time has come, or until something else is written to the table.
 */
export class NextTime {
  readonly #database: Database
  readonly #table: string
  readonly #read: (after: number) => number | null
  #version = -1
  #askedAfter = 0
  #found: number | null = null

  constructor(database: Database, table: string, read: (after: number) => number | null) {
    this.#database = database
    this.#table = table
    this.#read = read
  }

  after(time: number): number | null {
    const version = this.#database.versionOf(this.#table)
    const isSame = version === this.#version && time >= this.#askedAfter && (this.#found === null || this.#found > time)
    if (isSame) return this.#found
    this.#found = this.#read(time)
    this.#askedAfter = time
    this.#version = version
    return this.#found
  }

  /** For a write that changes no time. */
  keep<T>(write: () => T): T {
    const isKnown = this.#version === this.#database.versionOf(this.#table)
    const result = write()
    if (isKnown) this.#version = this.#database.versionOf(this.#table)
    return result
  }
}
