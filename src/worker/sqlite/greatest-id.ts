import type { Database } from './database.ts'

const ULID_LENGTH = 26

/** Ids go on from the greatest one there is. Each look-up is the end of a primary key. */
const GREATEST_IDS = [
  'events',
  'handler_runs',
  'script_runs',
  'mutations',
  'escalations',
  'scripts',
  'workflows',
  'sessions',
  'archives',
].map((table) => `SELECT max(id) AS id FROM ${table}`)

export function greatestId(database: Database): string | null {
  const ids = GREATEST_IDS.flatMap((sql) => {
    const id = database.get(sql)?.['id']
    return typeof id === 'string' ? [id.slice(-ULID_LENGTH)] : []
  })
  return ids.sort().at(-1) ?? null
}
