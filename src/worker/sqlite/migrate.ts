import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { Database } from './database.ts'
import type { Migration } from './migrations/index.ts'
import { integer } from './row.ts'

/** "HOLD" in ASCII, in the header of every file of ours: tells a Holdfast database from any other SQLite file. */
const APPLICATION_ID = 0x484f4c44

/** Applies what is missing. A database that is not ours, or newer than this code, is refused and left alone. */
export function migrate(database: Database, known: readonly Migration[]): Result<void> {
  const version = pragma(database, 'user_version')
  const newest = known.at(-1)?.version ?? 0
  if (!isOurs(database, version)) {
    return err(
      engineError('storage', 'This SQLite file was not written by Holdfast. Choose a backup that Holdfast made.'),
    )
  }
  if (version > newest) {
    return err(
      engineError(
        'storage',
        `This database was written by a newer Holdfast (tables of version ${version}; this one knows up to ${newest}). ` +
          'Reload the page to get the newer Holdfast. Nothing was changed.',
      ),
    )
  }
  for (const migration of known) {
    if (migration.version > version) apply(database, migration)
  }
  return ok(undefined)
}

function isOurs(database: Database, version: number): boolean {
  if (version > 0) return pragma(database, 'application_id') === APPLICATION_ID
  return database.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined
}

/**
 * The change and its version land together. References are off meanwhile, and checked before the end, because SQLite changes a
 * table by building a new one beside it, and dropping the old one would otherwise delete what hangs on it.
 */
function apply(database: Database, { version, sql }: Migration): void {
  database.script('PRAGMA foreign_keys = OFF')
  try {
    database.transaction(() => {
      database.script(sql)
      const dangling = database.get('PRAGMA foreign_key_check')
      if (dangling) throw new Error(`migration ${version} leaves a dangling reference: ${JSON.stringify(dangling)}`)
      database.script(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`)
    })
  } finally {
    database.script('PRAGMA foreign_keys = ON')
  }
}

function pragma(database: Database, name: 'user_version' | 'application_id'): number {
  const row = database.get(`PRAGMA ${name}`)
  return row ? integer(row, name) : 0
}
