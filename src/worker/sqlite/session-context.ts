import type { SessionContextEntry } from '#engine/model/session.ts'
import type { SessionContextWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, text } from './row.ts'

const SELECT = 'SELECT session_id, "key", value, updated_by, updated_at FROM session_context'
const SELECT_ONE = `${SELECT} WHERE session_id = ? AND "key" = ?`
const SELECT_OF_SESSION = `${SELECT} WHERE session_id = ${BOUND} ORDER BY "key"`
const SET = `
  INSERT INTO session_context (session_id, "key", value, updated_by, updated_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (session_id, "key") DO UPDATE SET
    value = excluded.value, updated_by = excluded.updated_by, updated_at = excluded.updated_at`

export function createSessionContextRepository(database: Database): SessionContextWrites {
  return {
    get(sessionId, key) {
      const row = database.get(SELECT_ONE, [sessionId, key])
      return row && rowToEntry(row)
    },
    list: (sessionId) => database.all(SELECT_OF_SESSION, [sessionId]).map(rowToEntry),
    set({ sessionId, key, value, updatedBy, updatedAt }) {
      database.run(SET, [sessionId, key, value, updatedBy, updatedAt])
    },
  }
}

function rowToEntry(row: Row): SessionContextEntry {
  return {
    sessionId: text(row, 'session_id'),
    key: text(row, 'key'),
    value: text(row, 'value'),
    updatedBy: text(row, 'updated_by'),
    updatedAt: integer(row, 'updated_at'),
  }
}
