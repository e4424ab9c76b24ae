import { eventStatuses } from '#engine/model/event.ts'
import type { EventQuery, EventRow, Listed } from '../../views-api.ts'
import { BOUND } from '../bound.ts'
import type { Database, Row, SqlValue } from '../database.ts'
import { integer, oneOf, text, textOrNull } from '../row.ts'
import { contains, pageLimit, toPage } from './page.ts'

const SELECT = `
  SELECT e.id, t.name AS topic, e.message_id, e.title, e.status, e.reserved_by_run_id, e.created_by_run_id, e.created_at
  FROM events e JOIN topics t ON t.id = e.topic_id`
const OF_WORKFLOW = `e.topic_id IN (SELECT id FROM topics WHERE workflow_id = ${BOUND})`
const OF_TOPIC = `e.topic_id = (SELECT id FROM topics WHERE workflow_id = ${BOUND} AND name = ${BOUND})`
const HAS_TEXT = String.raw`(e.title LIKE ${BOUND} ESCAPE '\' OR e.message_id LIKE ${BOUND} ESCAPE '\')`
/** What an attempt published has a larger id than the attempt and was written in its time: no index needed for its maker. */
const SELECT_PUBLISHED = `
  ${SELECT} WHERE e.workflow_id = ${BOUND} AND e.id >= ${BOUND} AND e.id <= ${BOUND} AND e.created_by_run_id = ${BOUND}
  ORDER BY e.id LIMIT 200`

export function listEvents(database: Database, query: EventQuery): Listed<EventRow> {
  const conditions: string[] = []
  const params: SqlValue[] = []
  const where = (condition: string, ...values: SqlValue[]): void => {
    conditions.push(condition)
    params.push(...values)
  }
  const { workflowId, topic, status, text: searched, before } = query
  if (topic === undefined) where(OF_WORKFLOW, workflowId)
  else where(OF_TOPIC, workflowId, topic)
  // Written out: only then does SQLite see that the index of pending events fits.
  if (status === 'pending') where(`e.status = 'pending'`)
  else if (status !== undefined) where(`e.status = ${BOUND}`, status)
  if (before !== undefined) where(`e.id < ${BOUND}`, before)
  if (searched !== undefined && searched !== '') where(HAS_TEXT, contains(searched), contains(searched))
  const limit = pageLimit(query.limit)
  const sql = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY e.id DESC LIMIT ${BOUND}`
  return toPage(database.all(sql, [...params, limit + 1]).map(rowToEventRow), limit)
}

export const eventsPublishedBy = (
  database: Database,
  run: { id: string; workflowId: string },
  range: { first: string; last: string },
): EventRow[] => database.all(SELECT_PUBLISHED, [run.workflowId, range.first, range.last, run.id]).map(rowToEventRow)

function rowToEventRow(row: Row): EventRow {
  return {
    id: text(row, 'id'),
    topic: text(row, 'topic'),
    messageId: text(row, 'message_id'),
    title: textOrNull(row, 'title'),
    status: oneOf(row, 'status', eventStatuses),
    reservedByRunId: textOrNull(row, 'reserved_by_run_id'),
    createdByRunId: textOrNull(row, 'created_by_run_id'),
    createdAt: integer(row, 'created_at'),
  }
}
