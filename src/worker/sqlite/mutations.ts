import { mutationResolvers, mutationStatuses, type Mutation } from '#engine/model/mutation.ts'
import type { MutationPatch, MutationWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import { hasNul, type Database, type Row, type SqlValue } from './database.ts'
import { RowCache } from './row-cache.ts'
import { integer, integerOrNull, oneOf, oneOfOrNull, text, textOrNull } from './row.ts'

const COLUMNS = `id, handler_run_id, workflow_id, tool_namespace, tool_method, params, idempotency_key, status, result, error,
  resolved_by, resolved_at, created_at, updated_at`
const SELECT_ONE = `SELECT ${COLUMNS} FROM mutations WHERE id = ?`
const SELECT_OF_HANDLER_RUN = `SELECT ${COLUMNS} FROM mutations WHERE handler_run_id = ?`
// What was refused or certainly failed has changed nothing.
const MADE = `FROM mutations WHERE workflow_id = ${BOUND} AND created_at > ? AND status IN ('in_flight', 'applied', 'indeterminate')`
const COUNT_MADE = `SELECT count(*) AS made ${MADE}`
const SELECT_MADE_AT = `SELECT created_at ${MADE} ORDER BY created_at DESC LIMIT 1 OFFSET ${BOUND}`
const INSERT = `INSERT INTO mutations (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const PATCHABLE = {
  status: 'status',
  result: 'result',
  error: 'error',
  resolvedBy: 'resolved_by',
  resolvedAt: 'resolved_at',
} as const satisfies Record<keyof MutationPatch, string>
const PROPERTIES = Object.keys(PATCHABLE) as (keyof MutationPatch)[]
const update = (properties: readonly (keyof MutationPatch)[]) =>
  `UPDATE mutations SET ${properties.map((property) => `${PATCHABLE[property]} = ?, `).join('')}updated_at = ? WHERE id = ?`

export function createMutationRepository(database: Database): MutationWrites {
  // Looked at once more when it is on disk, and then moved.
  const known = new RowCache<Mutation | undefined>(database, 'mutations')
  const one = (sql: string, key: string) => {
    const row = database.get(sql, [key])
    return row && rowToMutation(row)
  }
  return {
    get: (id) => known.get(id, () => one(SELECT_ONE, id)),
    ofHandlerRun: (handlerRunId) => one(SELECT_OF_HANDLER_RUN, handlerRunId),
    madeSince(workflowId, since) {
      const row = database.get(COUNT_MADE, [workflowId, since])
      return row ? integer(row, 'made') : 0
    },
    madeAt(workflowId, since, count) {
      const row = database.get(SELECT_MADE_AT, [workflowId, since, count - 1])
      return row ? integer(row, 'created_at') : null
    },
    insert(mutation) {
      const values = [
        mutation.id,
        mutation.handlerRunId,
        mutation.workflowId,
        mutation.toolNamespace,
        mutation.toolMethod,
        mutation.params,
        mutation.idempotencyKey,
        mutation.status,
        mutation.result,
        mutation.error,
        mutation.resolvedBy,
        mutation.resolvedAt,
        mutation.createdAt,
        mutation.updatedAt,
      ]
      const written = { ...mutation }
      known.change(
        mutation.id,
        () => database.run(INSERT, values),
        () => (values.some(hasNul) ? undefined : written),
      )
    },
    update(id, patch, now) {
      const changed = PROPERTIES.filter((property) => patch[property] !== undefined)
      const values = changed.map((property) => patch[property] as SqlValue)
      // What it is now is asked of the file.
      known.change(
        id,
        () => {
          database.changeOne(update(changed), [...values, now, id])
        },
        () => undefined,
      )
    },
  }
}

function rowToMutation(row: Row): Mutation {
  return {
    id: text(row, 'id'),
    handlerRunId: text(row, 'handler_run_id'),
    workflowId: text(row, 'workflow_id'),
    toolNamespace: text(row, 'tool_namespace'),
    toolMethod: text(row, 'tool_method'),
    params: text(row, 'params'),
    idempotencyKey: text(row, 'idempotency_key'),
    status: oneOf(row, 'status', mutationStatuses),
    result: textOrNull(row, 'result'),
    error: textOrNull(row, 'error'),
    resolvedBy: oneOfOrNull(row, 'resolved_by', mutationResolvers),
    resolvedAt: integerOrNull(row, 'resolved_at'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}
