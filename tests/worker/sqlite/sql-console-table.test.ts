import { askForTable } from '#worker/sqlite/sql-console.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { readSchema } from '#worker/sqlite/schema.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let database: Database

beforeEach(async () => {
  database = (await openTestStore()).database
})

describe('a result as a table', () => {
  test('keeps the order of the columns, and two of one name', () => {
    expect(askForTable(database, `SELECT 2 AS b, 1 AS a, x'01ff' AS b`, 10)).toEqual({
      ok: true,
      value: { columns: ['b', 'a', 'b'], rows: [[2, 1, new Uint8Array([1, 255])]], isCut: false },
    })
  })

  test('has no more rows than asked for, and says when there were more', () => {
    const count = (n: number): string =>
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${n}) SELECT i FROM n`
    expect(askForTable(database, count(3), 3)).toMatchObject({ value: { rows: [[1], [2], [3]], isCut: false } })
    expect(askForTable(database, count(4), 3)).toMatchObject({ value: { rows: [[1], [2], [3]], isCut: true } })
  })

  test('is refused for anything that writes', () => {
    expect(askForTable(database, 'DELETE FROM workflows', 3)).toMatchObject({ ok: false, error: { code: 'read_only' } })
  })
})

describe('what is wrong with a query', () => {
  const marked = (sql: string): string | null => {
    const answer = askForTable(database, sql, 3)
    if (answer.ok) return null
    const { from, to } = (answer.error.details ?? {}) as { from?: number; to?: number }
    return from === undefined || to === undefined ? null : `${from}:${sql.slice(from, to)}`
  }

  test.each([
    ['SELECT * FORM workflows', '9:FORM'],
    // The same word is right at its first place and wrong at its second.
    ['SELECT name FROM workflows WHERE WHERE name', '33:WHERE'],
    ['SELECT nam FROM workflows', '7:nam'],
    ['SELECT name FROM workflow', '17:workflow'],
    // A qualified name is marked by its last part.
    ['SELECT w.nam FROM workflows w', '9:nam'],
    ['SELECT (1', '9:'],
    ['SELECT nowhere(1)', '7:nowhere'],
  ])('%s is marked at its place', (sql, place) => {
    expect(marked(sql)).toBe(place)
  })
})

test('the schema names every table with its columns and keys', () => {
  const schema = readSchema(database)
  expect(schema.map(({ name }) => name)).toEqual(expect.arrayContaining(['events', 'workflows', 'settings']))
  expect(schema.find(({ name }) => name === 'settings')?.columns).toEqual([
    { name: 'key', type: 'TEXT', isKey: true },
    { name: 'value', type: 'TEXT', isKey: false },
    { name: 'updated_at', type: 'INTEGER', isKey: false },
  ])
})
