import type { SessionMessage } from '#engine/model/session.ts'
import type { SessionMessageWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, integerOrNull, text, textOrNull } from './row.ts'

const SELECT = `
  SELECT id, session_id, from_agent_id, to_agent_id, to_role, body, sent_at, read_at FROM session_messages`
const SELECT_OF_SESSION = `${SELECT} WHERE session_id = ${BOUND} ORDER BY id`
const SELECT_UNREAD = `${SELECT} WHERE to_agent_id = ${BOUND} AND read_at IS NULL ORDER BY id`
const INSERT = `
  INSERT INTO session_messages (session_id, from_agent_id, to_agent_id, to_role, body, sent_at) VALUES (?, ?, ?, ?, ?, ?)`
const MARK_SEEN = `
  UPDATE session_messages SET seen_by_run_id = ?
  WHERE id IN (SELECT value FROM json_each(?)) AND read_at IS NULL`
const MARK_READ = `
  UPDATE session_messages SET read_at = ? WHERE to_agent_id = ? AND seen_by_run_id = ? AND read_at IS NULL RETURNING id`
const TRANSFER_SEEN = `
  UPDATE session_messages SET seen_by_run_id = ? WHERE to_agent_id = ? AND seen_by_run_id = ? AND read_at IS NULL`

export function createSessionMessageRepository(database: Database): SessionMessageWrites {
  return {
    list: (sessionId) => database.all(SELECT_OF_SESSION, [sessionId]).map(rowToMessage),
    unreadBy: (agentId) => database.all(SELECT_UNREAD, [agentId]).map(rowToMessage),
    send({ sessionId, fromAgentId, toAgentId, toRole, body, sentAt }) {
      database.run(INSERT, [sessionId, fromAgentId, toAgentId, toRole, body, sentAt])
    },
    markSeen(messageIds, handlerRunId) {
      if (messageIds.length > 0) database.run(MARK_SEEN, [handlerRunId, JSON.stringify(messageIds)])
    },
    markRead: (agentId, handlerRunId, readAt) =>
      database.runReturning(MARK_READ, [readAt, agentId, handlerRunId]).map((row) => integer(row, 'id')),
    transferSeen(agentId, fromRunId, toRunId) {
      database.run(TRANSFER_SEEN, [toRunId, agentId, fromRunId])
    },
  }
}

function rowToMessage(row: Row): SessionMessage {
  return {
    id: integer(row, 'id'),
    sessionId: text(row, 'session_id'),
    fromAgentId: text(row, 'from_agent_id'),
    toAgentId: text(row, 'to_agent_id'),
    toRole: textOrNull(row, 'to_role'),
    body: text(row, 'body'),
    sentAt: integer(row, 'sent_at'),
    readAt: integerOrNull(row, 'read_at'),
  }
}
