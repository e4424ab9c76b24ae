import { beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '#worker/sqlite/database.ts'
import { askDatabase } from '#worker/sqlite/sql-console.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let database: Database
beforeEach(async () => {
  database = (await openTestStore()).database
})

const many = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'

describe('a question to the database', () => {
  test('is answered with rows as objects', () => {
    expect(askDatabase(database, 'SELECT ? AS a, 2 AS b', ['x'])).toEqual({ ok: true, value: [{ a: 'x', b: 2 }] })
  })

  test.each([
    `INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 0)`,
    'DROP TABLE settings',
    'PRAGMA user_version = 3',
    '/* SELECT */ DELETE FROM settings',
    'WITH x AS (SELECT 1) DELETE FROM settings',
  ])('that would write is refused: %s', (query) => {
    expect(askDatabase(database, query, undefined)).toMatchObject({ ok: false, error: { code: 'read_only' } })
  })

  test('that has no end is stopped between two rows, says what to do, and the database goes on', () => {
    let time = 0
    const refused = askDatabase(database, many, undefined, () => (time += 1_000))
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
    expect(refused.ok ? '' : refused.error.message).toMatch(/stopped after 5 s and \d+ rows.*LIMIT/)
    expect(askDatabase(database, 'SELECT 1 AS one', undefined)).toEqual({ ok: true, value: [{ one: 1 }] })
    database.transaction(() => database.run(`INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 0)`))
  })

  test('that takes less is answered whole, however many rows it has', () => {
    const answer = askDatabase(database, `${many} LIMIT 5000`, undefined, () => 0)
    expect(answer.ok && answer.value.length).toBe(5000)
  })
})
