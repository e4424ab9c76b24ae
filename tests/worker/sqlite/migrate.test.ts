import { describe, expect, test } from 'vitest'
import type { Database } from '#worker/sqlite/database.ts'
import { migrate } from '#worker/sqlite/migrate.ts'
import { openDatabase, useConnection } from '#worker/sqlite/open-database.ts'
import { migrations, type Migration } from '#worker/sqlite/migrations/index.ts'
import { loadSqlJs, openTestStore } from '../../support/open-test-store.ts'

const first: Migration = { version: 1, sql: 'CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT) STRICT' }
const second: Migration = { version: 2, sql: 'ALTER TABLE notes ADD COLUMN done INTEGER NOT NULL DEFAULT 0' }

async function open(bytes: Uint8Array | undefined, known: readonly Migration[]): Promise<Database> {
  const opened = openDatabase(await loadSqlJs(), bytes, known)
  if (!opened.ok) throw new Error(opened.error.message)
  return opened.value
}
const version = (database: Database) => database.get('PRAGMA user_version')?.['user_version']

describe('migrations', () => {
  test('count up from 1 without a gap', () => {
    expect(migrations.map((migration) => migration.version)).toEqual(migrations.map((_, i) => i + 1))
  })

  test('bring an empty file to the newest version', async () => {
    const { database } = await openTestStore()
    expect(version(database)).toBe(migrations.length)
    const strict = database.all(
      `SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    expect(strict.filter((table) => table['strict'] !== 1)).toEqual([])
    expect(strict.map((table) => table['name']).sort()).toEqual([
      'archives',
      'escalations',
      'events',
      'handler_runs',
      'handler_state',
      'logs',
      'mutations',
      'producer_schedules',
      'script_runs',
      'scripts',
      'session_agents',
      'session_context',
      'session_events',
      'session_messages',
      'sessions',
      'settings',
      'topics',
      'workflows',
    ])
  })

  test('apply only what is missing and keep the rows', async () => {
    const old = await open(undefined, [first])
    old.transaction(() => old.run(`INSERT INTO notes (body) VALUES ('kept')`))
    const opened = await open(old.exportBytes(), [first, second])
    expect(version(opened)).toBe(2)
    expect(opened.all('SELECT * FROM notes')).toEqual([{ id: 1, body: 'kept', done: 0 }])
  })

  test('change nothing in a file that is up to date', async () => {
    const { exportBytes } = await openTestStore()
    const again = await openTestStore(exportBytes())
    expect(Buffer.compare(again.exportBytes(), exportBytes())).toBe(0)
  })

  test('are applied over a connection that somebody else opened, and leave it open when it is refused', async () => {
    const sqlJs = await loadSqlJs()
    const connection = new sqlJs.Database()
    expect(useConnection(connection, [first])).toMatchObject({ ok: true })
    expect(connection.exec('PRAGMA foreign_keys')[0]?.values).toEqual([[1]])
    expect(useConnection(connection, [])).toMatchObject({ ok: false })
    expect(connection.exec('PRAGMA user_version')[0]?.values).toEqual([[1]])
  })

  test('land together with their version or not at all', async () => {
    const database = await open(undefined, [first])
    const broken: Migration = { version: 2, sql: `${second.sql}; CREATE TABLE extra (id INTEGER); SELECT nonsense` }
    expect(() => migrate(database, [first, broken])).toThrow(/nonsense/)
    expect(version(database)).toBe(1)
    expect(database.all(`SELECT name FROM sqlite_schema WHERE type = 'table'`)).toEqual([{ name: 'notes' }])
    expect(database.all('PRAGMA table_info(notes)')).toHaveLength(2)
    expect(database.get('PRAGMA foreign_keys')).toEqual({ foreign_keys: 1 })
    const opened = openDatabase(await loadSqlJs(), database.exportBytes(), [first, broken])
    expect(opened).toMatchObject({ ok: false, error: { code: 'storage' } })
  })

  test('may rebuild a table that others refer to, but may not leave a reference dangling', async () => {
    const parents: Migration = {
      version: 1,
      sql: `CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE children (parent_id INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE) STRICT;
        INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)`,
    }
    const rebuild: Migration = {
      version: 2,
      sql: `CREATE TABLE parents_new (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        INSERT INTO parents_new (id) SELECT id FROM parents; DROP TABLE parents;
        ALTER TABLE parents_new RENAME TO parents`,
    }
    const opened = await open((await open(undefined, [parents])).exportBytes(), [parents, rebuild])
    expect(opened.all('SELECT * FROM children')).toEqual([{ parent_id: 1 }])
    expect(opened.get('PRAGMA foreign_keys')).toEqual({ foreign_keys: 1 })

    const careless: Migration = { version: 3, sql: 'DELETE FROM parents' }
    const refused = openDatabase(await loadSqlJs(), opened.exportBytes(), [parents, rebuild, careless])
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringMatching(/dangling/) as string } })
  })
})

describe('a file is refused, in words,', () => {
  test('when it was written by a newer version', async () => {
    const newer = await open(undefined, [first, second])
    const opened = openDatabase(await loadSqlJs(), newer.exportBytes(), [first])
    expect(opened).toEqual({
      ok: false,
      error: {
        code: 'storage',
        message:
          'This database was written by a newer Holdfast (tables of version 2; this one knows up to 1). ' +
          'Reload the page to get the newer Holdfast. Nothing was changed.',
      },
    })
  })

  test.each([
    ['with tables of its own', 'CREATE TABLE mine (id INTEGER)'],
    ['with tables and a version of its own', 'CREATE TABLE mine (id INTEGER); PRAGMA user_version = 1'],
  ])('when it is another program’s database %s', async (_, sql) => {
    const sqlJs = await loadSqlJs()
    const foreign = new sqlJs.Database()
    foreign.run(sql)
    expect(openDatabase(sqlJs, foreign.export())).toMatchObject({
      ok: false,
      error: { code: 'storage', message: expect.stringMatching(/not written by Holdfast/) as string },
    })
  })

  test('when it is no database at all', async () => {
    const noise = new Uint8Array(8192).fill(7)
    expect(openDatabase(await loadSqlJs(), noise)).toEqual({
      ok: false,
      error: {
        code: 'storage',
        message: 'The database cannot be opened: file is not a database. Nothing was changed.',
      },
    })
  })
})
