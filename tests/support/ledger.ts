import type { Database } from 'sql.js'

const ROWS_KEPT = 40

const numberIn = (database: Database, sql: string): number => Number(database.exec(sql)[0]?.values[0]?.[0] ?? 0)

/**
 * A workload whose state after the n-th transaction is known from n alone: so that what is found after a crash can be
 * checked to be exactly the state after some transaction, and after which.
 */
export function createLedger(database: Database): void {
  database.run('CREATE TABLE IF NOT EXISTS ledger (n INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT')
  database.run('CREATE INDEX IF NOT EXISTS ledger_note ON ledger (note)')
  database.run('CREATE TABLE IF NOT EXISTS total (id INTEGER PRIMARY KEY CHECK (id = 1), n INTEGER NOT NULL) STRICT')
  database.run('INSERT OR IGNORE INTO total VALUES (1, 0)')
}

const noteOf = (n: number) => `note ${n} `.repeat(1 + ((n * 7919) % 60))

export const ledgerEntries = (database: Database): number => numberIn(database, 'SELECT n FROM total')

/** Returns the number of the transaction. */
export function commitEntry(database: Database): number {
  const n = ledgerEntries(database) + 1
  database.run('BEGIN')
  database.run('INSERT INTO ledger VALUES (?, ?)', [n, noteOf(n)])
  database.run('UPDATE ledger SET note = ? WHERE n = ?', [`changed by ${n}`, n - 5])
  database.run('DELETE FROM ledger WHERE n = ?', [n - ROWS_KEPT])
  database.run('UPDATE total SET n = ?', [n])
  database.run('COMMIT')
  return n
}

/** Throws unless the state is that after a whole number of transactions and the file is sound. Returns how many there were. */
export function checkLedger(database: Database): number {
  demand('integrity', database.exec('PRAGMA integrity_check')[0]?.values, [['ok']])
  if (numberIn(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'total'") === 0) return -1
  const last = ledgerEntries(database)
  const expected: [number, string][] = []
  for (let n = Math.max(1, last - ROWS_KEPT + 1); n <= last; n++) {
    expected.push([n, n <= last - 5 ? `changed by ${n + 5}` : noteOf(n)])
  }
  demand('ledger', database.exec('SELECT n, note FROM ledger ORDER BY n')[0]?.values ?? [], expected)
  return last
}

function demand(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Error(`The ${what} is ${JSON.stringify(found)} and should be ${JSON.stringify(expected)}.`)
}
