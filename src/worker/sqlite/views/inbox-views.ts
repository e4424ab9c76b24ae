import type { InboxQuery } from '../../views-api.ts'
import { BOUND } from '../bound.ts'
import type { Database, SqlValue } from '../database.ts'
import { integer, text } from '../row.ts'
import { pageLimit } from './page.ts'

const SELECT_IDS = 'SELECT id FROM escalations'
const COUNT_OPEN = 'SELECT count(*) AS n FROM escalations WHERE resolved_at IS NULL'

/** Newest first; one more than the page shows. */
export function listInboxIds(database: Database, query: InboxQuery): string[] {
  const conditions: string[] = []
  const params: SqlValue[] = []
  if (query.open !== undefined) conditions.push(`resolved_at IS ${query.open ? '' : 'NOT '}NULL`)
  if (query.workflowId !== undefined) {
    conditions.push(`workflow_id = ${BOUND}`)
    params.push(query.workflowId)
  }
  if (query.before !== undefined) {
    conditions.push(`id < ${BOUND}`)
    params.push(query.before)
  }
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''
  // The plus keeps SQLite from walking the whole table by id only to spare itself sorting the few open ones.
  const order = query.open ? '+id' : 'id'
  const sql = `${SELECT_IDS}${filter} ORDER BY ${order} DESC LIMIT ${BOUND}`
  return database.all(sql, [...params, pageLimit(query.limit) + 1]).map((row) => text(row, 'id'))
}

export const countOpen = (database: Database): number => {
  const row = database.get(COUNT_OPEN)
  return row ? integer(row, 'n') : 0
}
