import { EngineBug } from '#engine/model/errors.ts'
import { eventStatuses, type Event } from '#engine/model/event.ts'
import type { EventWrites, PendingTopic } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row, SqlValue } from './database.ts'
import { RowCache } from './row-cache.ts'
import { integer, oneOf, text, textList, textOrNull } from './row.ts'

const SELECT = `
  SELECT e.id, e.workflow_id, t.name AS topic, e.message_id, e.title, e.payload, e.status, e.reserved_by_run_id,
    e.created_by_run_id, e.caused_by, e.created_at
  FROM events e JOIN topics t ON t.id = e.topic_id`
const SELECT_ONE = `${SELECT} WHERE e.id = ${BOUND}`
const OF_TOPIC = `
  SELECT id, workflow_id, message_id, title, payload, status, reserved_by_run_id, created_by_run_id, caused_by, created_at
  FROM events WHERE topic_id =`
const PEEK = `${OF_TOPIC} ${BOUND} AND status = 'pending' ORDER BY id LIMIT ${BOUND}`
const SELECT_BY_MESSAGE_ID = `${OF_TOPIC} ? AND message_id = ?`
const SELECT_BY_MESSAGE_IDS = `
  ${OF_TOPIC} ${BOUND} AND message_id IN (SELECT value FROM json_each(?)) ORDER BY id`
const SELECT_RESERVED_IDS = `SELECT id FROM events WHERE reserved_by_run_id = ${BOUND} ORDER BY id`
const SELECT_RESERVED = `${SELECT} WHERE e.reserved_by_run_id = ${BOUND} ORDER BY e.id`
// Two look-ups per topic instead of a join with GROUP BY: counting along the index and taking its first entry is eight times
// as fast with 100,000 pending events.
const PENDING_BY_TOPIC = `
  WITH counted AS MATERIALIZED (
    SELECT t.id, t.workflow_id, t.name AS topic,
      (SELECT count(*) FROM events e WHERE e.topic_id = t.id AND e.status = 'pending') AS pending,
      (SELECT min(e.id) FROM events e WHERE e.topic_id = t.id AND e.status = 'pending') AS oldest_event_id
    FROM topics t WHERE t.workflow_id IN (SELECT value FROM json_each(?))
  )
  SELECT workflow_id, topic, pending, oldest_event_id FROM counted WHERE pending > 0 ORDER BY id`
const OLDEST_PENDING = `
  SELECT t.name AS topic,
    (SELECT min(e.id) FROM events e WHERE e.topic_id = t.id AND e.status = 'pending') AS oldest_event_id
  FROM topics t WHERE t.workflow_id = ${BOUND}`
const SELECT_TOPIC = 'SELECT id FROM topics WHERE workflow_id = ? AND name = ?'
const PUBLISH = `
  INSERT INTO events (id, topic_id, workflow_id, message_id, title, payload, status, created_by_run_id, caused_by, created_at)
  VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)
  ON CONFLICT (topic_id, message_id) DO UPDATE SET title = excluded.title, payload = excluded.payload
  WHERE events.status = 'pending'
  RETURNING id`
const RESERVE = `UPDATE events SET status = 'reserved', reserved_by_run_id = ? WHERE status = 'pending' AND id`
const RESERVE_ONE = `${RESERVE} = ?`
const RESERVE_SEVERAL = `${RESERVE} IN (SELECT value FROM json_each(?))`
const SELECT_RESERVED_TOPICS = `
  SELECT DISTINCT t.name AS topic FROM events e JOIN topics t ON t.id = e.topic_id
  WHERE e.reserved_by_run_id = ${BOUND} ORDER BY t.name`
const RELEASE = `UPDATE events SET status = 'pending', reserved_by_run_id = NULL WHERE reserved_by_run_id = ?`
const SETTLE = 'UPDATE events SET status = ?, reserved_by_run_id = NULL WHERE reserved_by_run_id = ?'
const TRANSFER = 'UPDATE events SET reserved_by_run_id = ? WHERE reserved_by_run_id = ?'
const SKIP_PENDING = `
  UPDATE events SET status = 'skipped' WHERE id IN (SELECT value FROM json_each(?)) AND status = 'pending'`

export function createEventRepository(database: Database): EventWrites {
  // The topics of a workflow hardly ever change, and every event is found through one.
  const topicIds = new RowCache<number | undefined>(database, 'topics')
  const topicId = (workflowId: string, topic: string) =>
    topicIds.get(`${workflowId} ${topic}`, () => {
      const row = database.get(SELECT_TOPIC, [workflowId, topic])
      return row && integer(row, 'id')
    })
  /** What an attempt has just reserved is asked for again before anything else is written to the table. */
  const reserved = new RowCache<readonly string[]>(database, 'events')
  const ofTopic = (workflowId: string, topic: string, sql: string, ...params: SqlValue[]) => {
    const id = topicId(workflowId, topic)
    return id === undefined ? [] : database.all(sql, [id, ...params]).map((row) => rowToEvent(row, topic))
  }

  return {
    get(id) {
      const row = database.get(SELECT_ONE, [id])
      return row && rowToEvent(row)
    },
    peek: (workflowId, topic, limit) => ofTopic(workflowId, topic, PEEK, limit),
    getByMessageIds(workflowId, topic, messageIds) {
      const [only, ...others] = messageIds
      return only !== undefined && others.length === 0
        ? ofTopic(workflowId, topic, SELECT_BY_MESSAGE_ID, only)
        : ofTopic(workflowId, topic, SELECT_BY_MESSAGE_IDS, JSON.stringify(messageIds))
    },
    reservedBy: (runId) => database.all(SELECT_RESERVED, [runId]).map((row) => rowToEvent(row)),
    reservedIds: (runId) =>
      reserved.get(runId, () => database.all(SELECT_RESERVED_IDS, [runId]).map((row) => text(row, 'id'))),
    oldestPending: (workflowId) =>
      new Map(
        database
          .all(OLDEST_PENDING, [workflowId])
          .filter((row) => row['oldest_event_id'] !== null)
          .map((row) => [text(row, 'topic'), text(row, 'oldest_event_id')]),
      ),
    pendingByTopic: (workflowIds) =>
      database.all(PENDING_BY_TOPIC, [JSON.stringify(workflowIds)]).map(rowToPendingTopic),
    publish(event) {
      const topic = topicId(event.workflowId, event.topic)
      if (topic === undefined) throw new EngineBug(`Workflow ${event.workflowId} has no topic ${event.topic}.`)
      const [written] = database.runReturning(PUBLISH, [
        event.id,
        topic,
        event.workflowId,
        event.messageId,
        event.title,
        event.payload,
        event.createdByRunId,
        JSON.stringify(event.causedBy),
        event.createdAt,
      ])
      if (!written) return 'ignored'
      return written['id'] === event.id ? 'inserted' : 'updated'
    },
    reserve(eventIds, runId) {
      const wanted = [...new Set(eventIds)].sort()
      const [only, ...others] = wanted
      const reserve = () => {
        const changed =
          only !== undefined && others.length === 0
            ? database.run(RESERVE_ONE, [runId, only])
            : database.run(RESERVE_SEVERAL, [runId, JSON.stringify(wanted)])
        if (changed === wanted.length) return
        throw new EngineBug(
          `Run ${runId} wanted to reserve ${wanted.length} pending events, but only ${changed} are pending.`,
        )
      }
      reserved.change(runId, reserve, () => wanted)
    },
    releaseReserved(runId) {
      const topics = database.all(SELECT_RESERVED_TOPICS, [runId]).map((row) => text(row, 'topic'))
      if (topics.length > 0) database.run(RELEASE, [runId])
      return topics
    },
    settleReserved(runId, status) {
      database.run(SETTLE, [status, runId])
    },
    transferReserved(fromRunId, toRunId) {
      database.run(TRANSFER, [toRunId, fromRunId])
    },
    skipPending: (eventIds) => database.run(SKIP_PENDING, [JSON.stringify(eventIds)]),
  }
}

function rowToEvent(row: Row, topic = text(row, 'topic')): Event {
  return {
    id: text(row, 'id'),
    workflowId: text(row, 'workflow_id'),
    topic,
    messageId: text(row, 'message_id'),
    title: textOrNull(row, 'title'),
    payload: text(row, 'payload'),
    status: oneOf(row, 'status', eventStatuses),
    reservedByRunId: textOrNull(row, 'reserved_by_run_id'),
    createdByRunId: textOrNull(row, 'created_by_run_id'),
    causedBy: textList(row, 'caused_by'),
    createdAt: integer(row, 'created_at'),
  }
}

function rowToPendingTopic(row: Row): PendingTopic {
  return {
    workflowId: text(row, 'workflow_id'),
    topic: text(row, 'topic'),
    pending: integer(row, 'pending'),
    oldestEventId: text(row, 'oldest_event_id'),
  }
}
