import type { Database } from 'sql.js'
import { capturePragmas } from './capture-pragmas.ts'
import type { FileMirror } from './file-mirror.ts'
import type { Sqlite } from './load-sqlite.ts'
import type { Tap } from './write-tap.ts'

/** Where the changes of the database come from. Both kinds feed the same mirror, and so the same log. */
export interface Capture {
  readonly kind: 'tap' | 'comparison'
  readonly database: Database
  readonly file: FileMirror
  /** Brings `file` up to the last commit. Never called inside a transaction. */
  refresh(): void
  /** Called when there may be something to refresh. The tap notices by itself as well. */
  onChange: (() => void) | null
  close(): void
}

export function openCapture(sqlite: Sqlite, file: FileMirror): Capture {
  return sqlite.tap ? new TapCapture(sqlite, sqlite.tap, file) : new ComparingCapture(openPlain(sqlite, file), file)
}

const openPlain = (sqlite: Sqlite, file: FileMirror): Database => {
  const database = new sqlite.sqlJs.Database(file.copy())
  try {
    database.run(capturePragmas)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

class TapCapture implements Capture {
  readonly database: Database
  readonly file: FileMirror
  readonly #close: () => void
  readonly #fault: () => string | null
  #fallback: ComparingCapture | null = null
  onChange: (() => void) | null = null

  constructor(sqlite: Sqlite, tap: Tap, file: FileMirror) {
    const { database, file: tapped } = tap.open(file, (bytes) => new sqlite.sqlJs.Database(bytes))
    tapped.onWrite = () => this.onChange?.()
    this.database = database
    this.file = file
    this.#fault = () => tapped.fault
    this.#close = () => {
      database.close()
      tap.release(tapped)
    }
    try {
      database.run(capturePragmas)
    } catch (error) {
      this.close()
      throw error
    }
  }

  get kind() {
    return this.#fallback ? 'comparison' : 'tap'
  }

  refresh(): void {
    if (this.#fault() !== null && !this.#fallback) {
      // What the mirror holds is no longer known for certain, so everything is written once more from the database itself.
      this.file.moveAway()
      this.#fallback = new ComparingCapture(this.database, this.file)
      this.#fallback.refresh()
      this.file.markAll()
    }
    this.#fallback?.refresh()
  }

  close(): void {
    this.#close()
  }
}

const STAMP = `SELECT total_changes() || ' ' || (SELECT schema_version FROM pragma_schema_version) || ' ' ||
  (SELECT user_version FROM pragma_user_version) || ' ' || (SELECT page_count FROM pragma_page_count)`

/** Compares the exported database with the mirror. For builds of sql.js that cannot be tapped. */
class ComparingCapture implements Capture {
  readonly kind = 'comparison'
  readonly database: Database
  readonly file: FileMirror
  #seen: unknown
  onChange: (() => void) | null = null

  constructor(database: Database, file: FileMirror) {
    this.database = database
    this.file = file
  }

  refresh(): void {
    const stamp = this.database.exec(STAMP)[0]?.values[0]?.[0]
    if (stamp === this.#seen) return
    const image = this.database.export()
    this.file.compare(0, image)
    this.file.absorb(0, image)
    if (image.length < this.file.size) this.file.setSize(image.length)
    this.#seen = stamp
  }

  close(): void {
    this.database.close()
  }
}
