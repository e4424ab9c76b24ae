import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { Database, Row, SqlValue } from './database.ts'
import { placeOfComplaint } from './complaint-place.ts'

/** `PRAGMA name = value` changes the connection without writing the file, so SQLite would not refuse it. */
const READING_PRAGMA =
  /^PRAGMA\s+(?:table_info|table_xinfo|table_list|index_list|index_info|foreign_key_list|page_count|freelist_count|page_size|user_version|integrity_check|quick_check|compile_options)\b(?!\s*=)/i
const READING_STATEMENT = /^(?:SELECT|WITH|VALUES|EXPLAIN)\b/i

/** The engine runs on the same thread: it waits meanwhile. */
const LONGEST_MS = 5_000
const ROWS_BETWEEN_LOOKS = 100

/** A result as a table: columns may have the same name. */
export interface SqlTable {
  columns: string[]
  rows: SqlValue[][]
  /** There were more rows than asked for. */
  isCut: boolean
}

type Now = () => number
const realNow: Now = () => performance.now()

/** Questions of people and tests to the real database. Nothing they say can change it. */
export const askDatabase = (database: Database, query: unknown, params: unknown, now = realNow): Result<Row[]> =>
  ask(database, query, params, (sql, bound) => {
    const stop = stopAt(now() + LONGEST_MS, now)
    return database.readOnly(sql, bound, stop)
  })

/** The same for a screen: in the order of the columns, no more rows than asked for, and with the place of what is wrong. */
export const askForTable = (database: Database, query: unknown, limit: number, now = realNow): Result<SqlTable> =>
  ask(database, query, [], (sql, bound) => {
    const stop = stopAt(now() + LONGEST_MS, now)
    const { columns, rows } = database.readOnlyTable(sql, bound, (count) => {
      stop(count)
      return count <= limit
    })
    return { columns, rows: rows.slice(0, limit), isCut: rows.length > limit }
  })

function ask<T>(
  database: Database,
  query: unknown,
  params: unknown,
  read: (sql: string, params: SqlValue[]) => T,
): Result<T> {
  if (typeof query !== 'string' || query.trim() === '') {
    return err(engineError('invalid_input', 'There is no query: pass SQL text, such as "SELECT * FROM workflows".'))
  }
  if (params !== undefined && !isParams(params)) {
    return err(engineError('invalid_input', 'The parameters must be an array of strings, numbers, nulls or bytes.'))
  }
  const statement = withoutLeadingComments(query)
  if (!READING_STATEMENT.test(statement) && !READING_PRAGMA.test(statement)) return err(readOnly)
  try {
    return ok(read(query, params ?? []))
  } catch (error) {
    if (error instanceof TooLong) return err(engineError('invalid_input', error.message))
    const message = error instanceof Error ? error.message : String(error)
    if (message.includes('readonly database')) return err(readOnly)
    const place = placeOfComplaint(message, query, (part) => database.complaint(part))
    return err(engineError('invalid_input', `The query failed: ${message}.`, place ?? undefined))
  }
}

class TooLong extends Error {}

const stopAt = (deadline: number, now: () => number) => (rows: number) => {
  if (rows % ROWS_BETWEEN_LOOKS > 0 || now() <= deadline) return
  throw new TooLong(
    `The query was stopped after ${String(LONGEST_MS / 1000)} s and ${String(rows)} rows: the engine waits for it. ` +
      'Ask for less (WHERE, LIMIT), or download a backup and ask that with another program.',
  )
}

const readOnly = engineError(
  'read_only',
  'Only reading is possible here: SELECT, WITH, VALUES, EXPLAIN and PRAGMAs that ask. Nothing was changed.',
)

const withoutLeadingComments = (sql: string): string => sql.replace(/^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '')

const isParams = (params: unknown): params is SqlValue[] =>
  Array.isArray(params) &&
  params.every(
    (value) => value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array,
  )
