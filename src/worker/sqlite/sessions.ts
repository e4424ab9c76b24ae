import { failurePolicies, sessionStates, sessionStrategies, type Session } from '#engine/model/session.ts'
import type { SessionPatch, SessionWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row, SqlValue } from './database.ts'
import { integer, integerOrNull, jsonObject, oneOf, text, textOrNull } from './row.ts'

const COLUMN_OF = {
  id: 'id',
  objective: 'objective',
  strategy: 'strategy',
  state: 'state',
  onFailure: 'on_failure',
  maxParallel: 'max_parallel',
  agentCount: 'agent_count',
  completedAgents: 'completed_agents',
  failedAgents: 'failed_agents',
  metadata: 'metadata',
  errorMessage: 'error_message',
  createdAt: 'created_at',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  restoredAt: 'restored_at',
} as const satisfies Record<keyof Session, string>
const PROPERTIES = Object.keys(COLUMN_OF) as (keyof Session)[]

const COLUMNS = Object.values(COLUMN_OF).join(', ')
const SELECT_ONE = `SELECT ${COLUMNS} FROM sessions WHERE id = ?`
const SELECT_ALL = `SELECT ${COLUMNS} FROM sessions ORDER BY id DESC`
// The plus keeps SQLite from walking the whole table by id only to spare itself sorting a handful.
const SELECT_UNDER_WAY = `
  SELECT ${COLUMNS} FROM sessions WHERE completed_at IS NULL AND state IN ('running', 'paused') ORDER BY +id`
const SELECT_COST = `
  SELECT coalesce(sum(r.cost), 0) AS cost FROM workflows w CROSS JOIN script_runs r ON r.workflow_id = w.id
  WHERE w.session_id = ${BOUND}`
const INSERT = `INSERT INTO sessions (${COLUMNS}) VALUES (${PROPERTIES.map(() => '?').join(', ')})`
const update = (properties: readonly (keyof Session)[]) =>
  `UPDATE sessions SET ${properties.map((property) => `${COLUMN_OF[property]} = ?`).join(', ')} WHERE id = ?`
const DELETE = 'DELETE FROM sessions WHERE id = ?'

export function createSessionRepository(database: Database): SessionWrites {
  return {
    get(id) {
      const row = database.get(SELECT_ONE, [id])
      return row && rowToSession(row)
    },
    list: () => database.all(SELECT_ALL).map(rowToSession),
    listUnderWay: () => database.all(SELECT_UNDER_WAY).map(rowToSession),
    costOf(id) {
      const row = database.get(SELECT_COST, [id])
      return row ? integer(row, 'cost') : 0
    },
    insert(session) {
      database.run(
        INSERT,
        PROPERTIES.map((property) => (property === 'metadata' ? JSON.stringify(session.metadata) : session[property])),
      )
    },
    update(id, patch) {
      const changed = PROPERTIES.filter((property) => patch[property as keyof SessionPatch] !== undefined)
      if (changed.length === 0) return
      const values = changed.map((property) => patch[property as keyof SessionPatch] as SqlValue)
      database.changeOne(update(changed), [...values, id])
    },
    delete(id) {
      database.changeOne(DELETE, [id])
    },
  }
}

function rowToSession(row: Row): Session {
  return {
    id: text(row, 'id'),
    objective: text(row, 'objective'),
    strategy: oneOf(row, 'strategy', sessionStrategies),
    state: oneOf(row, 'state', sessionStates),
    onFailure: oneOf(row, 'on_failure', failurePolicies),
    maxParallel: integerOrNull(row, 'max_parallel'),
    agentCount: integer(row, 'agent_count'),
    completedAgents: integer(row, 'completed_agents'),
    failedAgents: integer(row, 'failed_agents'),
    metadata: jsonObject(row, 'metadata'),
    errorMessage: textOrNull(row, 'error_message'),
    createdAt: integer(row, 'created_at'),
    startedAt: integerOrNull(row, 'started_at'),
    completedAt: integerOrNull(row, 'completed_at'),
    restoredAt: integerOrNull(row, 'restored_at'),
  }
}
