import type { Database as Connection, SqlValue as StoredValue, Statement } from 'sql.js'
import { EngineBug } from '#engine/model/errors.ts'

/** What may be bound. No booleans and no BigInt: sql.js would bind the latter as text, and compare nothing equal. */
export type SqlValue = string | number | null | Uint8Array
export type Row = Record<string, SqlValue>

interface Prepared {
  sql: string
  statement: Statement
  columns: string[]
  /** Null for a statement that only reads. What cascades to other tables is not seen. */
  writtenTable: string | null
  /** What is deleted may take rows of other tables with it. */
  mayCascade: boolean
}

/** Transactions that become one. It begins with the first of them, so that a group of none costs nothing. */
interface Group {
  isBegun: boolean
  /** What failed first. Whatever else the group does then is rolled back with it. */
  doom: { error: unknown } | null
}

/** A write of one row that has not been made yet, so that what comes next may become one with it. */
export interface PostponedWrite {
  /** True while it can; then the table counts as written to once more. */
  extend(): boolean
}

interface Postponed {
  table: string
  statement: () => { sql: string; params: readonly SqlValue[] }
}

const WRITES_TO = /^\s*(?:INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/i

/** Hears of each commit, and of the tables it wrote to. */
export type CommitListener = (tables: ReadonlySet<string>) => void

/** One sql.js connection: prepared statements by their text, transactions, and word of each commit. */
export class Database {
  #connection: Connection
  readonly #prepared = new Map<string, Prepared>()
  readonly #commitListeners = new Set<CommitListener>()
  #writtenTables = new Set<string>()
  readonly #writesByTable = new Map<string, number>()
  #writesToAny = 0
  #isInTransaction = false
  #group: Group | null = null
  #postponed: Postponed | null = null
  #isClosed = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Counts up with everything that may have changed the table. There is one connection: nobody writes behind its back. */
  versionOf(table: string): number {
    return this.#writesToAny + (this.#writesByTable.get(table) ?? 0)
  }

  /** Executes one writing statement and returns how many rows it changed. */
  run(sql: string, params: readonly SqlValue[] = noParams): number {
    this.#step(this.#noteWrite(sql), params)
    return this.#connection.getRowsModified()
  }

  /** Like `run`, for a statement with a RETURNING clause. */
  runReturning(sql: string, params: readonly SqlValue[]): Row[] {
    return this.#allOf(this.#noteWrite(sql), params)
  }

  /** For a statement aimed at one row by its key: anything but one row changed means the caller's picture is wrong. */
  changeOne(sql: string, params: readonly SqlValue[]): void {
    expectOne(this.run(sql, params), sql, params)
  }

  /**
   * Makes a statement that changes one row of this table, and asks for it only then: before anything else is written, before the
   * table is read, and before COMMIT. The table counts as written to from now on.
   */
  postpone(table: string, statement: Postponed['statement']): PostponedWrite {
    if (!this.#isInTransaction) throw new EngineBug(`Writing is only possible inside a transaction: ${table}`)
    this.#makePostponed()
    this.#noteWriteTo(table)
    const postponed = { table, statement }
    this.#postponed = postponed
    return {
      extend: () => {
        if (this.#postponed !== postponed) return false
        this.#noteWriteTo(table)
        return true
      },
    }
  }

  get(sql: string, params: readonly SqlValue[] = noParams): Row | undefined {
    return this.all(sql, params)[0]
  }

  /** Reads to the end, which matters for RETURNING: SQLite checks foreign keys when the last row has been taken. */
  all(sql: string, params: readonly SqlValue[] = noParams): Row[] {
    const prepared = this.#prepare(sql)
    if (this.#postponed !== null && prepared.sql.includes(this.#postponed.table)) this.#makePostponed()
    return this.#allOf(prepared, params)
  }

  /**
   * One statement from outside, not kept. SQLite itself refuses to write meanwhile. `onRow` may end it, by throwing or with false:
   * between two rows is the only place where it can be ended, because sql.js does not give us SQLite's interrupt.
   */
  readOnlyTable(
    sql: string,
    params: readonly SqlValue[],
    onRow: (count: number) => boolean,
  ): { columns: string[]; rows: SqlValue[][] } {
    if (this.#isInTransaction || this.#group !== null) {
      throw new EngineBug('A question from outside cannot be answered in the middle of a transaction.')
    }
    this.#connection.run('PRAGMA query_only = ON')
    try {
      const statement = this.#connection.prepare(sql)
      try {
        statement.bind(bindable(params))
        const rows: SqlValue[][] = []
        while (statement.step()) {
          rows.push(statement.get().map((value) => value ?? null))
          if (!onRow(rows.length)) break
        }
        return { columns: statement.getColumnNames(), rows }
      } finally {
        statement.free()
      }
    } finally {
      this.#connection.run('PRAGMA query_only = OFF')
    }
  }

  /** The same, with rows as objects; `onRow` may throw to end it. */
  readOnly(sql: string, params: readonly SqlValue[] = [], onRow: (count: number) => void = () => undefined): Row[] {
    const { columns, rows } = this.readOnlyTable(sql, params, (count) => {
      onRow(count)
      return true
    })
    return rows.map((values) => toRow(columns, values))
  }

  /** What SQLite says to a statement before it is executed; null when it understands it. */
  complaint(sql: string): string | null {
    try {
      this.#connection.prepare(sql).free()
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  /** Several statements without parameters. Kept apart from `run`: given parameters, sql.js executes only the first one. */
  script(sql: string): void {
    this.#freeStatements()
    this.#writesToAny += 1
    this.#connection.run(sql)
  }

  /** Synchronous on purpose: nothing else can come between. A throw, also of COMMIT itself, rolls everything back. */
  transaction<T>(work: () => T): T {
    if (this.#isInTransaction) throw new EngineBug('A transaction cannot be opened inside a transaction.')
    if (this.#group !== null) return this.#joinGroup(this.#group, work)
    this.#step(this.#prepare('BEGIN'))
    let result: T
    try {
      result = this.#perform(work)
      this.#commit()
    } catch (error) {
      this.#rollback()
      throw error
    }
    this.#tellOfCommit()
    return result
  }

  /**
   * All transactions that `work` opens are one: there is one COMMIT, at the end, and the listeners hear once. A throw rolls all of
   * them back, also one that `work` itself catches: half of what that transaction wrote would be committed with the others.
   */
  together<T>(work: () => T): T {
    if (this.#group !== null || this.#isInTransaction) {
      throw new EngineBug('A group of transactions cannot be opened inside a transaction or another group.')
    }
    const group: Group = { isBegun: false, doom: null }
    this.#group = group
    let result: T
    try {
      result = work()
      if (isThenable(result)) throw new EngineBug('A group of transactions cannot span an await.')
      throwDoom(group)
      if (group.isBegun) this.#commit()
    } catch (error) {
      if (group.isBegun) this.#rollback()
      throwDoom(group)
      throw error
    } finally {
      this.#group = null
    }
    if (group.isBegun) this.#tellOfCommit()
    return result
  }

  /** Calls `listener` after each COMMIT. The returned function takes it back. */
  onCommit(listener: CommitListener): () => void {
    this.#commitListeners.add(listener)
    return () => this.#commitListeners.delete(listener)
  }

  /** A complete SQLite file of what is committed. */
  exportBytes(): Uint8Array {
    return this.#connection.export()
  }

  /** Goes on with another's connection, which gives it up; whoever holds this object, and the listeners, notice nothing. */
  takeOver(other: Database): void {
    if (this.#isInTransaction || this.#group !== null) {
      throw new EngineBug('The database cannot be swapped inside a transaction.')
    }
    other.#freeStatements()
    other.#isClosed = true
    this.#freeStatements()
    this.#connection.close()
    this.#connection = other.#connection
    this.#writesToAny += 1
  }

  close(): void {
    this.#freeStatements()
    this.#isClosed = true
    this.#connection.close()
  }

  #joinGroup<T>(group: Group, work: () => T): T {
    throwDoom(group)
    if (!group.isBegun) this.#step(this.#prepare('BEGIN'))
    group.isBegun = true
    try {
      return this.#perform(work)
    } catch (error) {
      group.doom ??= { error }
      throw error
    }
  }

  #perform<T>(work: () => T): T {
    this.#isInTransaction = true
    try {
      const result = work()
      if (isThenable(result)) throw new EngineBug('A transaction cannot span an await.')
      return result
    } finally {
      this.#isInTransaction = false
    }
  }

  #tellOfCommit(): void {
    const tables = this.#writtenTables
    this.#writtenTables = new Set()
    for (const listener of this.#commitListeners) {
      try {
        listener(tables)
      } catch (error) {
        // It is committed: whoever cannot bear that may not make it look as if it were not.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  /** A statement that fails may make SQLite roll back by itself. In a group nobody may go on after that as if nothing had been. */
  #allOf(prepared: Prepared, params: readonly SqlValue[]): Row[] {
    try {
      return allOf(prepared, params)
    } catch (error) {
      if (this.#group !== null) this.#group.doom ??= { error }
      throw error
    }
  }

  #noteWrite(sql: string): Prepared {
    if (!this.#isInTransaction) throw new EngineBug(`Writing is only possible inside a transaction: ${sql}`)
    this.#makePostponed()
    const prepared = this.#prepare(sql)
    const { writtenTable, mayCascade } = prepared
    if (writtenTable !== null && !mayCascade) {
      this.#noteWriteTo(writtenTable)
      return prepared
    }
    if (writtenTable !== null) this.#writtenTables.add(writtenTable)
    this.#writesToAny += 1
    return prepared
  }

  #noteWriteTo(table: string): void {
    this.#writtenTables.add(table)
    this.#writesByTable.set(table, (this.#writesByTable.get(table) ?? 0) + 1)
  }

  #step({ statement }: Prepared, params: readonly SqlValue[] = noParams): void {
    try {
      if (params.length > 0) statement.bind(bindable(params))
      statement.step()
    } finally {
      statement.reset()
    }
  }

  #commit(): void {
    this.#makePostponed()
    this.#step(this.#prepare('COMMIT'))
  }

  #makePostponed(): void {
    if (this.#postponed === null) return
    const { sql, params } = this.#postponed.statement()
    this.#postponed = null
    try {
      this.#step(this.#prepare(sql), params)
      expectOne(this.#connection.getRowsModified(), sql, params)
    } catch (error) {
      // Whoever happens to come after it may not take this for a failure of their own, and go on.
      if (this.#group !== null) this.#group.doom ??= { error }
      throw error
    }
  }

  #rollback(): void {
    this.#postponed = null
    this.#writesToAny += 1
    try {
      this.#step(this.#prepare('ROLLBACK'))
    } catch {
      // After some errors (out of memory, disk full) SQLite has already rolled back by itself, and says there is nothing to.
    }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known) return known
    // sql.js would answer "out of memory".
    if (this.#isClosed) throw new EngineBug('The database is closed.')
    const statement = this.#connection.prepare(sql)
    const prepared = {
      sql,
      statement,
      columns: statement.getColumnNames(),
      writtenTable: WRITES_TO.exec(sql)?.[1] ?? null,
      mayCascade: !/^\s*(?:INSERT\s+INTO|UPDATE)\s/i.test(sql),
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }

  #freeStatements(): void {
    for (const { statement } of this.#prepared.values()) statement.free()
    this.#prepared.clear()
  }
}

const noParams: readonly SqlValue[] = []

function expectOne(changed: number, sql: string, params: readonly SqlValue[]): void {
  if (changed === 1) return
  throw new EngineBug(`Expected one row to change, not ${changed}: ${sql} ${JSON.stringify(params)}`)
}

function throwDoom({ doom }: Group): void {
  if (doom !== null) throw doom.error
}

/** What is bound to a statement stays bound only until it is reset, and it is reset after each use. */
function allOf({ statement, columns }: Prepared, params: readonly SqlValue[]): Row[] {
  const rows: Row[] = []
  try {
    if (params.length > 0) statement.bind(bindable(params))
    while (statement.step()) rows.push(toRow(columns, statement.get()))
  } finally {
    statement.reset()
  }
  return rows
}

function toRow(columns: readonly string[], values: readonly StoredValue[]): Row {
  const row: Row = {}
  // By index: the iterator that would read nicer costs more than the rest of the loop.
  for (let i = 0; i < columns.length; i += 1) row[columns[i] ?? ''] = values[i] ?? null
  return row
}

/** Such a text is not stored as it was given. */
export const hasNul = (value: SqlValue): boolean => typeof value === 'string' && value.includes('\0')

function bindable(params: readonly SqlValue[]): SqlValue[] {
  return params.map(bindableValue)
}

function bindableValue(value: SqlValue): SqlValue {
  if (typeof value === 'string') {
    // sql.js hands text back only up to its first NUL: a visible stand-in is better than a silent cut.
    return hasNul(value) ? value.replaceAll('\0', '\uFFFD') : value
  }
  // SQLite would store NaN as NULL.
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value === null || value instanceof Uint8Array) return value
  throw new EngineBug(`Cannot store ${String(value)} (${typeof value}) in the database.`)
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
