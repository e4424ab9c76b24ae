import type { SettingWrites } from '#engine/ports/store.ts'
import type { Database } from './database.ts'
import { RowCache } from './row-cache.ts'
import { text } from './row.ts'

const SELECT_ONE = 'SELECT value FROM settings WHERE key = ?'
const SET = `
  INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
const REMOVE = 'DELETE FROM settings WHERE key = ?'

export function createSettingRepository(database: Database): SettingWrites {
  // Asked for the limits of a workflow before each of its phases, and hardly ever written.
  const known = new RowCache<{ value: string | undefined }>(database, 'settings')
  return {
    get: (key) =>
      known.get(key, () => {
        const row = database.get(SELECT_ONE, [key])
        return { value: row && text(row, 'value') }
      }).value,
    set(key, value, now) {
      database.run(SET, [key, value, now])
    },
    remove(key) {
      database.run(REMOVE, [key])
    },
  }
}
