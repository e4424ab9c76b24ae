import type { Database } from './database.ts'
import { integer, text } from './row.ts'

const SELECT_COLUMNS = `
  SELECT tables.name AS table_name, columns.name, columns.type, columns.pk
  FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'
  ORDER BY tables.name, columns.cid`

export interface TableSchema {
  name: string
  columns: { name: string; type: string; isKey: boolean }[]
}

/** What there is to ask for, by name. */
export function readSchema(database: Database): TableSchema[] {
  const tables = new Map<string, TableSchema>()
  for (const row of database.all(SELECT_COLUMNS)) {
    const name = text(row, 'table_name')
    const table = tables.get(name) ?? { name, columns: [] }
    table.columns.push({ name: text(row, 'name'), type: text(row, 'type'), isKey: integer(row, 'pk') > 0 })
    tables.set(name, table)
  }
  return [...tables.values()]
}
