import type { Database as Connection, SqlJsStatic } from 'sql.js'
import { Database } from '#worker/sqlite/database.ts'
import { openDatabase, useConnection } from '#worker/sqlite/open-database.ts'

/** What survives the death of a tab: everything up to the last flush, and nothing after it. */
export interface Disk {
  /** The database as a new tab finds it. */
  open(): Database
  flush(): void
  /** The tab is gone, and what was not flushed is gone with it. */
  lose(): void
}

/** Each flush copies the whole file, each tab opens the copy: just what a real tab sees, at several milliseconds a life. */
export const createFileDisk = (sqlJs: SqlJsStatic): Disk => {
  let bytes = emptyFile(sqlJs)
  let database: Database | undefined
  return {
    open: () => {
      const opened = openDatabase(sqlJs, bytes)
      if (!opened.ok) throw new Error(opened.error.message)
      return (database = opened.value)
    },
    flush: () => {
      if (database !== undefined) bytes = database.exportBytes()
    },
    lose: () => database?.close(),
  }
}

let emptyBytes: Uint8Array | undefined

const emptyFile = (sqlJs: SqlJsStatic): Uint8Array => {
  if (emptyBytes === undefined) {
    const opened = openDatabase(sqlJs)
    if (!opened.ok) throw new Error(opened.error.message)
    emptyBytes = opened.value.exportBytes()
    opened.value.close()
  }
  return emptyBytes
}

/** The engine's transactions, one level down. A savepoint that was rolled back stays open until the one around it ends. */
const nested: Readonly<Record<string, string>> = {
  BEGIN: 'SAVEPOINT work',
  COMMIT: 'RELEASE work',
  ROLLBACK: 'ROLLBACK TO work',
}

let shared: { connection: Connection; database: Database } | undefined

/**
 * One connection for all lives: what is not flushed is an open savepoint, and death rolls it back. No copies, and statements
 * stay prepared. Deferred references are not checked at commits, because nothing is ever really committed: the judge asks.
 */
export const createSavepointDisk = (sqlJs: SqlJsStatic): Disk => {
  const { connection, database } = (shared ??= openShared(sqlJs))
  connection.run('ROLLBACK; BEGIN; SAVEPOINT flushed')
  return {
    open: () => database,
    flush: () => connection.run('RELEASE flushed; SAVEPOINT flushed'),
    lose: () => connection.run('ROLLBACK TO flushed'),
  }
}

const openShared = (sqlJs: SqlJsStatic): { connection: Connection; database: Database } => {
  const connection = new sqlJs.Database()
  const opened = useConnection(connection)
  if (!opened.ok) throw new Error(opened.error.message)
  connection.run('BEGIN')
  const inner = Object.create(connection) as Connection
  inner.prepare = (sql, params) => connection.prepare(nested[sql] ?? sql, params)
  return { connection, database: new Database(inner) }
}
