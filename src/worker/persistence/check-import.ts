import type { Database as Connection, SqlJsStatic } from 'sql.js'
import { isValid } from 'ulid'
import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { parseWorkflowConfig } from '#engine/script/config.ts'
import type { Database } from '../sqlite/database.ts'
import { greatestId } from '../sqlite/greatest-id.ts'
import { useConnection } from '../sqlite/open-database.ts'
import { createScriptRepository } from '../sqlite/scripts.ts'
import { createWorkflowRepository } from '../sqlite/workflows.ts'
import { PAGE_BYTES } from './dirty-lines.ts'

const MAGIC = 'SQLite format 3\0'
/** Where the header says how the file is journaled: 2 is a write-ahead log, which an in-memory file cannot have. */
const FORMAT_VERSIONS = [18, 19]

export interface CheckedImport {
  /** Ready to be stored: tables up to date, in pages of our size. */
  image: Uint8Array
  /** What a person should see before anything is replaced. */
  preview: { bytes: number; rowsByTable: Record<string, number> }
}

/**
 * Everything that can be wrong with a file is found here, on a copy, before anything is replaced: not SQLite, damaged, not ours, newer
 * than this program, references that lead nowhere, ids that ours cannot go on from, workflows that the engine could not read.
 */
export function checkImport(sqlJs: SqlJsStatic, bytes: unknown): Result<CheckedImport> {
  const refuse = (why: string) => err(engineError('invalid_input', `${why} Nothing was changed.`))
  if (!(bytes instanceof Uint8Array)) return refuse('Pass the bytes of a SQLite file as a Uint8Array.')
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, MAGIC.length))
  if (start !== MAGIC) return refuse('This is not a SQLite file. Choose a backup that Holdfast made.')
  const copy = bytes.slice()
  for (const at of FORMAT_VERSIONS) copy[at] = 1

  let connection: Connection | undefined
  try {
    connection = new sqlJs.Database(copy)
    const damage = firstColumn(connection, 'PRAGMA integrity_check(3)').filter((line) => line !== 'ok')
    if (damage.length > 0) return refuse(`The file is damaged: ${damage.join('; ')}. Choose another backup.`)
    const used = useConnection(connection)
    if (!used.ok) return err(used.error)
    const dangling = firstColumn(connection, 'PRAGMA foreign_key_check')
    if (dangling.length > 0)
      return refuse(`The file contradicts itself: rows of "${dangling[0]}" refer to rows that are not there.`)
    const newest = greatestId(used.value)
    if (newest !== null && !isValid(newest))
      return refuse(`The file has ids that Holdfast did not make, such as "${newest}". Choose another backup.`)
    const unreadable = unreadableWorkflow(used.value)
    if (unreadable !== null) return refuse(`${unreadable} Choose another backup.`)
    return ok({ image: normalised(connection), preview: { bytes: bytes.length, rowsByTable: countRows(connection) } })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuse(`The file cannot be read: ${reason}. Choose another backup.`)
  } finally {
    connection?.close()
  }
}

/** The engine reads every workflow before it starts anything: one that it cannot read would keep all of them from running. */
function unreadableWorkflow(database: Database): string | null {
  const scripts = createScriptRepository(database)
  for (const { id, name, handlerConfig, activeScriptId } of createWorkflowRepository(database).list()) {
    try {
      parseWorkflowConfig(handlerConfig)
      const script = activeScriptId === null ? undefined : scripts.get(activeScriptId)
      if (script) parseWorkflowConfig(script.config)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return `The file holds a workflow that cannot be used, "${name}" (${id}). ${reason}.`
    }
  }
  return null
}

function normalised(connection: Connection): Uint8Array {
  connection.run(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = 0; VACUUM`)
  return connection.export()
}

const firstColumn = (connection: Connection, sql: string): string[] =>
  (connection.exec(sql)[0]?.values ?? []).map(([value]) => String(value))

function countRows(connection: Connection): Record<string, number> {
  const tables = firstColumn(
    connection,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  return Object.fromEntries(
    tables.map((table) => [table, Number(firstColumn(connection, `SELECT count(*) FROM "${table}"`)[0])]),
  )
}
