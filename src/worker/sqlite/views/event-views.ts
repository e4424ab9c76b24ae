import { eventStatuses, type EventStatus } from '#engine/model/event.ts'
import type { EventQuery, EventRow, Listed } from '../../views-api.ts'
import { BOUND } from '../bound.ts'
import type { Database, Row, SqlValue } from '../database.ts'
import { integer, oneOf, text, textOrNull } from '../row.ts'
import { contains, pageLimit, SLICE, toSlice } from './page.ts'

const SELECT = `
  SELECT e.id, t.name AS topic, e.message_id, e.title, e.status, e.reserved_by_run_id, e.created_by_run_id, e.created_at
  FROM events e JOIN topics t ON t.id = e.topic_id`
const TOPICS = `SELECT id FROM topics WHERE workflow_id = ${BOUND}`
/** Each written as an index has it: only then does SQLite see that the index fits. */
const HALVES = { pending: `e.status = 'pending'`, others: `e.status <> 'pending'` }
const HAS_TEXT = String.raw`(e.title LIKE ${BOUND} ESCAPE '\' OR e.message_id LIKE ${BOUND} ESCAPE '\')`
/** What an attempt published has a larger id than the attempt and was written in its time: no index needed for its maker. */
const SELECT_PUBLISHED = `
  ${SELECT} WHERE e.workflow_id = ${BOUND} AND e.id >= ${BOUND} AND e.id <= ${BOUND} AND e.created_by_run_id = ${BOUND}
  ORDER BY e.id LIMIT 200`

/**
 * The newest of each topic and half come in order from their index, and are merged here: one query for all would sort every event
 * there is to show fifty.
 */
export function listEvents(database: Database, query: EventQuery): Listed<EventRow> {
  const { status } = query
  const halves = status === undefined ? [HALVES.pending, HALVES.others] : [halfOf(status)]
  const limit = pageLimit(query.limit)
  const parts = topicIds(database, query).flatMap((topicId) => halves.map((half) => ({ topicId, half })))
  const until = isSearch(query) ? endOfSlice(database, query, parts) : undefined
  const rows = parts.flatMap((part) => newestEvents(database, query, { ...part, until, limit: limit + 1 }))
  rows.sort((a, b) => (a.id < b.id ? 1 : -1))
  return toSlice(rows, limit, until)
}

/** Whether very many rows may have to be looked at for one that fits. */
const isSearch = ({ text: searched = '', status }: EventQuery): boolean =>
  searched !== '' || (status !== undefined && status !== 'pending')

interface Part {
  topicId: number
  half: string
}

/** Down to here every part is searched: where the first of them has used up its share of the slice. */
function endOfSlice(database: Database, { before }: EventQuery, parts: readonly Part[]): string | undefined {
  const share = Math.ceil(SLICE / Math.max(1, parts.length))
  const ends = parts.flatMap(({ topicId, half }) => {
    const sql = `SELECT e.id FROM events e WHERE e.topic_id = ${BOUND} AND ${half}
      ${before === undefined ? '' : `AND e.id < ${BOUND}`} ORDER BY e.id DESC LIMIT 1 OFFSET ${BOUND}`
    const row = database.get(sql, [topicId, ...(before === undefined ? [] : [before]), share - 1])
    return row ? [text(row, 'id')] : []
  })
  return ends.sort().at(-1)
}

const halfOf = (status: EventStatus): string => (status === 'pending' ? HALVES.pending : HALVES.others)

function topicIds(database: Database, { workflowId, topic }: EventQuery): number[] {
  const rows =
    topic === undefined
      ? database.all(TOPICS, [workflowId])
      : database.all(`${TOPICS} AND name = ${BOUND}`, [workflowId, topic])
  return rows.map((row) => integer(row, 'id'))
}

function newestEvents(
  database: Database,
  { status, text: searched, before }: EventQuery,
  { topicId, half, until, limit }: Part & { until: string | undefined; limit: number },
): EventRow[] {
  const conditions = [`e.topic_id = ${BOUND}`, half]
  const params: SqlValue[] = [topicId]
  const where = (condition: string, ...values: SqlValue[]): void => {
    conditions.push(condition)
    params.push(...values)
  }
  if (status !== undefined && status !== 'pending') where(`e.status = ${BOUND}`, status)
  if (before !== undefined) where(`e.id < ${BOUND}`, before)
  if (until !== undefined) where(`e.id >= ${BOUND}`, until)
  if (searched !== undefined && searched !== '') where(HAS_TEXT, contains(searched), contains(searched))
  const sql = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY e.id DESC LIMIT ${BOUND}`
  return database.all(sql, [...params, limit]).map(rowToEventRow)
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
