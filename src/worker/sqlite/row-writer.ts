import type { Database, PostponedWrite, SqlValue } from './database.ts'

type Values = Record<string, SqlValue | undefined>

export interface RowWriter<Row> {
  insert(row: Row): void
  update(id: string, values: Partial<Row>): void
}

/**
 * Rows with an `id`. In one commit a row is often written several times: what one transition writes of it and what the next one
 * does are one statement, where nothing else is written between them.
 */
export function createRowWriter<Row extends { id: string } & { [Property in keyof Row]: SqlValue }>(
  database: Database,
  table: string,
  columnOf: Readonly<Record<keyof Row & string, string>>,
): RowWriter<Row> {
  const properties = Object.keys(columnOf) as (keyof Row & string)[]
  const statements = new Map<string, string>()
  let last: { id: string; values: Values; write: PostponedWrite } | null = null

  const known = (name: string, make: () => string): string => {
    const sql = statements.get(name) ?? make()
    statements.set(name, sql)
    return sql
  }
  const namesIn = (values: Values) => properties.filter((name) => values[name] !== undefined)
  const paramsOf = (values: Values, names: readonly string[]) => names.map((name) => values[name] ?? null)

  const insertOf = (values: Values) => {
    // A column that is not mentioned is NULL, and most columns of a new row are.
    const names = namesIn(values).filter((name) => values[name] !== null)
    const sql = known(`insert ${names.join()}`, () => {
      const columns = names.map((name) => columnOf[name]).join(', ')
      return `INSERT INTO ${table} (${columns}) VALUES (${names.map(() => '?').join(', ')})`
    })
    return { sql, params: paramsOf(values, names) }
  }

  const updateOf = (id: string, values: Values) => {
    const names = namesIn(values)
    const sql = known(`update ${names.join()}`, () => {
      const changes = names.map((name) => `${columnOf[name]} = ?`).join(', ')
      return `UPDATE ${table} SET ${changes} WHERE id = ?`
    })
    return { sql, params: [...paramsOf(values, names), id] }
  }

  const begin = (id: string, values: Values, statementOf: (values: Values) => { sql: string; params: SqlValue[] }) => {
    last = { id, values, write: database.postpone(table, () => statementOf(values)) }
  }

  return {
    insert: (row) => begin(row.id, { ...row }, insertOf),
    update(id, values) {
      if (last?.id === id && last.write.extend()) Object.assign(last.values, values)
      else begin(id, { ...values }, (all) => updateOf(id, all))
    },
  }
}
