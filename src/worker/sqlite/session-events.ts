import { sessionEventTypes, type SessionEvent } from '#engine/model/session.ts'
import type { SessionEventWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, jsonObject, oneOf, text, textOrNull } from './row.ts'

const SELECT_AFTER = `
  SELECT id, session_id, timestamp, event_type, agent_id, data FROM session_events
  WHERE session_id = ${BOUND} AND id > ${BOUND} ORDER BY id LIMIT ${BOUND}`
const SELECT_LAST_ID = `SELECT coalesce(max(id), 0) AS id FROM session_events WHERE session_id = ${BOUND}`
const INSERT = 'INSERT INTO session_events (session_id, timestamp, event_type, agent_id, data) VALUES (?, ?, ?, ?, ?)'

export function createSessionEventRepository(database: Database): SessionEventWrites {
  return {
    after: (sessionId, eventId, limit) => database.all(SELECT_AFTER, [sessionId, eventId, limit]).map(rowToEvent),
    lastId(sessionId) {
      const row = database.get(SELECT_LAST_ID, [sessionId])
      return row ? integer(row, 'id') : 0
    },
    append({ sessionId, timestamp, eventType, agentId, data }) {
      database.run(INSERT, [sessionId, timestamp, eventType, agentId, JSON.stringify(data)])
    },
  }
}

function rowToEvent(row: Row): SessionEvent {
  return {
    id: integer(row, 'id'),
    sessionId: text(row, 'session_id'),
    timestamp: integer(row, 'timestamp'),
    eventType: oneOf(row, 'event_type', sessionEventTypes),
    agentId: textOrNull(row, 'agent_id'),
    data: jsonObject(row, 'data'),
  }
}
