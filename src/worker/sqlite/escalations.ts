import { escalationActions, escalationKinds, type Escalation } from '#engine/model/escalation.ts'
import type { EscalationWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, integerOrNull, jsonObject, listOf, oneOf, oneOfOrNull, text, textOrNull } from './row.ts'

const COLUMNS = `id, workflow_id, script_run_id, handler_run_id, mutation_id, kind, message, details, actions, resolution,
  resolution_value, created_at, resolved_at`
const SELECT = `SELECT ${COLUMNS} FROM escalations`
const SELECT_ONE = `${SELECT} WHERE id = ?`
const SELECT_OPEN_OF_HANDLER_RUN = `${SELECT} WHERE handler_run_id = ? AND resolved_at IS NULL`
const SELECT_EXHAUSTED = `SELECT 1 FROM escalations WHERE handler_run_id = ? AND kind = 'retries_exhausted'`
const INSERT = `INSERT INTO escalations (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const RESOLVE = `
  UPDATE escalations SET resolution = ?, resolution_value = ?, resolved_at = ? WHERE id = ? AND resolved_at IS NULL`

function selectBy(filter: { open?: boolean; workflowId?: string }): string {
  const conditions = []
  if (filter.workflowId !== undefined) conditions.push(`workflow_id = ${BOUND}`)
  if (filter.open !== undefined) conditions.push(`resolved_at IS ${filter.open ? '' : 'NOT '}NULL`)
  // The plus keeps SQLite from walking the whole table by id only to spare itself sorting the few open ones.
  const order = filter.open ? '+id' : 'id'
  return `${SELECT}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''} ORDER BY ${order}`
}

export function createEscalationRepository(database: Database): EscalationWrites {
  return {
    get(id) {
      const row = database.get(SELECT_ONE, [id])
      return row && rowToEscalation(row)
    },
    openOfHandlerRun(handlerRunId) {
      const row = database.get(SELECT_OPEN_OF_HANDLER_RUN, [handlerRunId])
      return row && rowToEscalation(row)
    },
    wasExhausted: (handlerRunId) => database.get(SELECT_EXHAUSTED, [handlerRunId]) !== undefined,
    list: (filter) =>
      database.all(selectBy(filter), filter.workflowId === undefined ? [] : [filter.workflowId]).map(rowToEscalation),
    insert(escalation) {
      database.run(INSERT, [
        escalation.id,
        escalation.workflowId,
        escalation.scriptRunId,
        escalation.handlerRunId,
        escalation.mutationId,
        escalation.kind,
        escalation.message,
        JSON.stringify(escalation.details),
        JSON.stringify(escalation.actions),
        escalation.resolution,
        escalation.resolutionValue,
        escalation.createdAt,
        escalation.resolvedAt,
      ])
    },
    resolve(id, action, value, now) {
      database.changeOne(RESOLVE, [action, value, now, id])
    },
  }
}

function rowToEscalation(row: Row): Escalation {
  return {
    id: text(row, 'id'),
    workflowId: text(row, 'workflow_id'),
    scriptRunId: text(row, 'script_run_id'),
    handlerRunId: text(row, 'handler_run_id'),
    mutationId: textOrNull(row, 'mutation_id'),
    kind: oneOf(row, 'kind', escalationKinds),
    message: text(row, 'message'),
    details: jsonObject(row, 'details'),
    actions: listOf(row, 'actions', escalationActions),
    resolution: oneOfOrNull(row, 'resolution', escalationActions),
    resolutionValue: textOrNull(row, 'resolution_value'),
    createdAt: integer(row, 'created_at'),
    resolvedAt: integerOrNull(row, 'resolved_at'),
  }
}
