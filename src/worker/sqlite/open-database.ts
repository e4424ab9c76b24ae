import type { Database as Connection, SqlJsStatic } from 'sql.js'
import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { migrations, type Migration } from './migrations/index.ts'

/**
 * The file is written only inside COMMIT (no spilling, journal in memory) and always by us alone (exclusive, which also saves
 * the write to page 1 per commit): what a commit writes is a whole transaction. Space is given back by VACUUM, not by
 * auto_vacuum, because truncating makes the in-memory file reallocate.
 */
const PRAGMAS = `
  PRAGMA page_size = 4096;
  PRAGMA auto_vacuum = 0;
  PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_spill = OFF;
  PRAGMA foreign_keys = ON;
`

/** Opens the given file, or an empty one, and brings its tables up to date. A file that is refused is left as it was. */
export function openDatabase(
  sqlJs: SqlJsStatic,
  bytes?: Uint8Array,
  known: readonly Migration[] = migrations,
): Result<Database> {
  const connection = new sqlJs.Database(bytes)
  const opened = useConnection(connection, known)
  if (!opened.ok) connection.close()
  return opened
}

/** The same over a connection that somebody else opened, and closes when it is refused. */
export function useConnection(connection: Connection, known: readonly Migration[] = migrations): Result<Database> {
  try {
    connection.run(PRAGMAS)
    const database = new Database(connection)
    const migrated = migrate(database, known)
    return migrated.ok ? ok(database) : migrated
  } catch (error) {
    return err(engineError('storage', `The database cannot be opened: ${sentence(error)} Nothing was changed.`))
  }
}

/** Puts another file in the place of an open one. When it is refused, the open one stays. */
export function replaceDatabase(database: Database, sqlJs: SqlJsStatic, bytes: Uint8Array): Result<void> {
  const next = openDatabase(sqlJs, bytes)
  if (!next.ok) return next
  database.takeOver(next.value)
  return ok(undefined)
}

function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
