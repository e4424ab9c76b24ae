import { failureTypes } from '#engine/model/errors.ts'
import {
  consumerPhases,
  handlerTypes,
  mutationOutcomes,
  producerPhases,
  runStatuses,
  type HandlerRun,
  type RunStatus,
} from '#engine/model/handler-run.ts'
import type { HandlerRunPatch, HandlerRunWrites } from '#engine/ports/store.ts'
import { BOUND, EVER } from './bound.ts'
import { hasNul, type Database, type Row, type SqlValue } from './database.ts'
import { NextTime } from './next-time.ts'
import { RowCache } from './row-cache.ts'
import { createRowWriter } from './row-writer.ts'
import { integer, integerOrNull, oneOf, oneOfOrNull, text, textOrNull } from './row.ts'

/** Every property and its column, in the order of the table. A new property does not compile until it has a column. */
const COLUMN_OF = {
  id: 'id',
  scriptRunId: 'script_run_id',
  workflowId: 'workflow_id',
  scriptId: 'script_id',
  handlerType: 'handler_type',
  handlerName: 'handler_name',
  phase: 'phase',
  status: 'status',
  retryOf: 'retry_of',
  attempt: 'attempt',
  retriesUsed: 'retries_used',
  retryAt: 'retry_at',
  prepareResult: 'prepare_result',
  mutationOutcome: 'mutation_outcome',
  mutationResult: 'mutation_result',
  inputState: 'input_state',
  outputState: 'output_state',
  error: 'error',
  errorType: 'error_type',
  errorLine: 'error_line',
  errorColumn: 'error_column',
  cost: 'cost',
  phaseTimes: 'phase_times',
  startTimestamp: 'start_timestamp',
  endTimestamp: 'end_timestamp',
} as const satisfies Record<keyof HandlerRun, string>
const PROPERTIES = Object.keys(COLUMN_OF) as (keyof HandlerRun)[]

const TABLE = 'handler_runs'
const COLUMNS = Object.values(COLUMN_OF).join(', ')
const SELECT = `SELECT ${COLUMNS} FROM handler_runs`
const SELECT_ONE = `${SELECT} WHERE id = ?`
const SELECT_ACTIVE_OF = `${SELECT} WHERE workflow_id = ? AND status = 'active'`
// The plus keeps SQLite from walking the whole table by id only to spare itself sorting a handful.
const SELECT_ACTIVE = `${SELECT} WHERE status = 'active' ORDER BY +id`
const SELECT_BY_SCRIPT_RUN = `${SELECT} WHERE script_run_id = ${BOUND} ORDER BY id`
const SELECT_RETRY_OF = `${SELECT} WHERE retry_of = ?`
const SELECT_AWAITING_RETRY = `${SELECT} WHERE workflow_id = ${BOUND} AND retry_at IS NOT NULL ORDER BY retry_at, id`
const SELECT_DUE_RETRIES = `${SELECT} WHERE retry_at > ? AND retry_at <= ? ORDER BY retry_at, id`
const SELECT_LAST_STOPPED = `
  ${SELECT} WHERE id = (
    SELECT max(h.id) FROM script_runs r CROSS JOIN handler_runs h ON h.script_run_id = r.id WHERE r.workflow_id = ${BOUND}
      AND h.status NOT IN ('active', 'committed', 'cancelled') AND h.retry_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM handler_runs later WHERE later.retry_of = h.id)
  )`
const SELECT_NEXT_RETRY_AT = 'SELECT min(retry_at) AS retry_at FROM handler_runs WHERE retry_at > ?'
const SELECT_PRODUCERS_RUN = `
  SELECT DISTINCT handler_name FROM handler_runs WHERE script_run_id = ${BOUND} AND handler_type = 'producer'
  ORDER BY handler_name`
const SELECT_COST_SINCE = `
  SELECT coalesce(sum(cost), 0) AS cost FROM handler_runs WHERE workflow_id = ? AND cost > 0 AND start_timestamp > ?`
const SELECT_COST_REACHED_AT = `
  SELECT max(start_timestamp) AS reached_at FROM (
    SELECT start_timestamp, sum(cost) OVER (ORDER BY start_timestamp DESC, id DESC) AS spent
    FROM handler_runs WHERE workflow_id = ${BOUND} AND cost > 0 AND start_timestamp > ${BOUND}
  ) WHERE spent >= ?`
export function createHandlerRunRepository(database: Database): HandlerRunWrites {
  // Every step reads its row afresh, several times: from memory, unless it was written meanwhile.
  const known = new RowCache<HandlerRun | undefined>(database, TABLE)
  /** By workflow. */
  const active = new RowCache<{ id: string | null }>(database, TABLE)
  /** Workflows in which no attempt waits for its retry, which is nearly always so. */
  const retryless = new RowCache<true | undefined>(database, TABLE)
  const nextRetryAt = new NextTime(database, TABLE, (after) => {
    const row = database.get(SELECT_NEXT_RETRY_AT, [after])
    return row ? integerOrNull(row, 'retry_at') : null
  })
  const writer = createRowWriter<HandlerRun>(database, TABLE, COLUMN_OF)
  const keepRetries = (write: () => unknown) => nextRetryAt.keep(() => retryless.keep(write))
  const one = (sql: string, params: SqlValue[]) => {
    const row = database.get(sql, params)
    return row && rowToHandlerRun(row)
  }
  const many = (sql: string, params: SqlValue[] = []) => database.all(sql, params).map(rowToHandlerRun)

  const get = (id: string) => known.get(id, () => one(SELECT_ONE, [id]))

  /** At most one attempt of a workflow is active. */
  const noteStatus = (id: string, status: RunStatus | undefined, write: () => void) => {
    const workflowId = status === undefined ? undefined : get(id)?.workflowId
    if (workflowId === undefined) active.keep(write)
    else if (status === 'active') active.change(workflowId, write, () => ({ id }))
    else active.change(workflowId, write, (before) => (before?.id === id ? { id: null } : before))
  }

  return {
    get,
    activeOf(workflowId) {
      const { id } = active.get(workflowId, () => ({ id: one(SELECT_ACTIVE_OF, [workflowId])?.id ?? null }))
      return id === null ? undefined : get(id)
    },
    listActive: () => many(SELECT_ACTIVE),
    listByScriptRun: (scriptRunId) => many(SELECT_BY_SCRIPT_RUN, [scriptRunId]),
    retryOf: (id) => one(SELECT_RETRY_OF, [id]),
    awaitingRetry(workflowId) {
      let found: HandlerRun[] = []
      retryless.get(workflowId, () => {
        found = many(SELECT_AWAITING_RETRY, [workflowId])
        return found.length === 0 ? true : undefined
      })
      return found
    },
    dueRetries: (now, after = EVER) => many(SELECT_DUE_RETRIES, [after, now]),
    lastStopped: (workflowId) => one(SELECT_LAST_STOPPED, [workflowId]),
    nextRetryAt: (after) => nextRetryAt.after(after),
    producersRunIn: (scriptRunId) =>
      database.all(SELECT_PRODUCERS_RUN, [scriptRunId]).map((row) => text(row, 'handler_name')),
    costSince(workflowId, since) {
      const row = database.get(SELECT_COST_SINCE, [workflowId, since])
      return row ? integer(row, 'cost') : 0
    },
    costReachedAt(workflowId, since, cost) {
      const row = database.get(SELECT_COST_REACHED_AT, [workflowId, since, cost])
      return row ? integerOrNull(row, 'reached_at') : null
    },
    insert(run) {
      const values = PROPERTIES.map((property) => run[property])
      const written = { ...run }
      const insert = () =>
        known.change(
          run.id,
          () => writer.insert(run),
          () => (values.some(hasNul) ? undefined : written),
        )
      const noteActive = () =>
        run.status === 'active' ? active.change(run.workflowId, insert, () => ({ id: run.id })) : active.keep(insert)
      if (run.retryAt === null) keepRetries(noteActive)
      else noteActive()
    },
    update(id, patch) {
      const changed = (Object.keys(patch) as (keyof HandlerRunPatch)[]).filter((name) => patch[name] !== undefined)
      if (changed.length === 0) return
      const values = changed.map((name) => patch[name] as SqlValue)
      const update = () =>
        known.change(
          id,
          () => writer.update(id, Object.fromEntries(changed.map((name, n) => [name, values[n]]))),
          // A NUL is not stored as it was given.
          (before) =>
            before === undefined || values.some(hasNul)
              ? undefined
              : { ...before, ...Object.fromEntries(changed.map((name, n) => [name, values[n]])) },
        )
      const noteActive = () => noteStatus(id, patch.status, update)
      if (patch.retryAt === undefined) keepRetries(noteActive)
      else noteActive()
    },
  }
}

function rowToHandlerRun(row: Row): HandlerRun {
  const handlerType = oneOf(row, 'handler_type', handlerTypes)
  return {
    id: text(row, 'id'),
    scriptRunId: text(row, 'script_run_id'),
    workflowId: text(row, 'workflow_id'),
    scriptId: text(row, 'script_id'),
    handlerType,
    handlerName: text(row, 'handler_name'),
    phase: handlerType === 'producer' ? oneOf(row, 'phase', producerPhases) : oneOf(row, 'phase', consumerPhases),
    status: oneOf(row, 'status', runStatuses),
    retryOf: textOrNull(row, 'retry_of'),
    attempt: integer(row, 'attempt'),
    retriesUsed: integer(row, 'retries_used'),
    retryAt: integerOrNull(row, 'retry_at'),
    prepareResult: textOrNull(row, 'prepare_result'),
    mutationOutcome: oneOfOrNull(row, 'mutation_outcome', mutationOutcomes),
    mutationResult: textOrNull(row, 'mutation_result'),
    inputState: textOrNull(row, 'input_state'),
    outputState: textOrNull(row, 'output_state'),
    error: textOrNull(row, 'error'),
    errorType: oneOfOrNull(row, 'error_type', failureTypes),
    errorLine: integerOrNull(row, 'error_line'),
    errorColumn: integerOrNull(row, 'error_column'),
    cost: integer(row, 'cost'),
    phaseTimes: text(row, 'phase_times'),
    startTimestamp: integer(row, 'start_timestamp'),
    endTimestamp: integerOrNull(row, 'end_timestamp'),
  }
}
