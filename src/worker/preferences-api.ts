import type { Preferences, SavedQuery } from '#engine/model/preferences.ts'
import type { Result } from '#engine/model/result.ts'
import type { TableSchema } from './sqlite/schema.ts'
import type { SqlTable } from './sqlite/sql-console.ts'
import type { TableSizes } from './sqlite/table-sizes.ts'

export type { Preferences, SavedQuery, SqlTable, TableSchema, TableSizes }

/** What a person chooses for the whole engine, and what the settings show of it. */
export interface PreferencesApi {
  getPreferences(): Promise<Result<Preferences>>
  /** Absent leaves it as it is. Holds at once. */
  setPreferences(change: Partial<Preferences>): Promise<Result<null>>
  /** How much of the database file each table takes. Walks the whole file: for a screen that asks for it, not for a live query. */
  getTableSizes(): Promise<Result<TableSizes>>
  /** Tables and their columns, by name. */
  getSchema(): Promise<Result<TableSchema[]>>
  /** Like `sql`, for a screen: a table of at most `limit` rows. What is wrong is at `details: { from, to }` of the query. */
  getQueryTable(query: string, options?: { limit?: number }): Promise<Result<SqlTable>>
  /** By name. */
  listSavedQueries(): Promise<Result<SavedQuery[]>>
  /** Under a name that is there already it replaces that one. */
  saveQuery(query: { name: string; sql: string }): Promise<Result<null>>
  removeQuery(name: string): Promise<Result<null>>
}
