import type { Database } from './database.ts'

const MOST_ROWS = 256

/** Rows of one table by key, for as long as nothing else was written to it. Whoever gets one must not change it. */
export class RowCache<Value> {
  readonly #database: Database
  readonly #table: string
  readonly #rows = new Map<string, Value>()
  #version = -1

  constructor(database: Database, table: string) {
    this.#database = database
    this.#table = table
  }

  get(key: string, read: () => Value): Value {
    this.#forgetWhatChanged()
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const value = read()
    if (this.#rows.size >= MOST_ROWS) this.#rows.clear()
    if (value !== undefined) this.#rows.set(key, value)
    return value
  }

  /** For a write that touches this row and no other of the table: the others stay known, and this one as `after` says. */
  change(key: string, write: () => unknown, after: (before: Value | undefined) => Value | undefined): void {
    this.#forgetWhatChanged()
    const before = this.#rows.get(key)
    this.#rows.delete(key)
    write()
    this.#version = this.#database.versionOf(this.#table)
    const value = after(before)
    if (value !== undefined) this.#rows.set(key, value)
  }

  /** For a write that touches nothing of what is kept: columns that no kept value was read from, or a row that is not in any. */
  keep<T>(write: () => T): T {
    this.#forgetWhatChanged()
    const result = write()
    this.#version = this.#database.versionOf(this.#table)
    return result
  }

  #forgetWhatChanged(): void {
    const version = this.#database.versionOf(this.#table)
    if (version === this.#version) return
    this.#rows.clear()
    this.#version = version
  }
}
