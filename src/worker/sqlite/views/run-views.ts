import { failureTypes } from '#engine/model/errors.ts'
import { escalationActions } from '#engine/model/escalation.ts'
import { consumerPhases, handlerTypes, producerPhases, runStatuses } from '#engine/model/handler-run.ts'
import { runResults, runTriggers, type ScriptRun } from '#engine/model/script-run.ts'
import { encodeTime } from 'ulid'
import type { AttemptOutline, Listed, RunQuery, RunRow } from '../../views-api.ts'
import { BOUND } from '../bound.ts'
import type { Database, Row, SqlValue } from '../database.ts'
import { integer, integerOrNull, listOf, oneOf, oneOfOrNull, text, textOrNull } from '../row.ts'
import { contains, pageLimit, SLICE, toSlice } from './page.ts'

const RUN = `r.id, r.workflow_id, r.script_id, r."trigger", r.result, r.error, r.cost, r.handler_run_count, r.start_timestamp,
  r.end_timestamp`
const SELECT_RUNS = `
  SELECT ${RUN}, w.name AS workflow_name, s.version, q.id AS question_id, q.actions AS question_actions
  FROM script_runs r
  JOIN workflows w ON w.id = r.workflow_id
  LEFT JOIN scripts s ON s.id = r.script_id
  LEFT JOIN escalations q ON q.id = (
    SELECT id FROM escalations WHERE workflow_id = r.workflow_id AND script_run_id = r.id AND resolved_at IS NULL LIMIT 1
  )`
const HAS_HANDLER = `
  r.id IN (SELECT h.script_run_id FROM handler_runs h WHERE h.script_run_id = r.id AND h.handler_name = ${BOUND})`
const HAS_TEXT = String.raw`(r.id LIKE ${BOUND} ESCAPE '\' OR r.error LIKE ${BOUND} ESCAPE '\' OR w.name LIKE ${BOUND} ESCAPE '\')`
const SELECT_ATTEMPTS = `
  SELECT id, handler_type, handler_name, phase, status, retry_of, attempt, retry_at, error, error_type, phase_times,
    prepare_result ->> '$.ui.title' AS title, start_timestamp, end_timestamp
  FROM handler_runs WHERE script_run_id = ${BOUND} ORDER BY id`

const ULID_TIME_LENGTH = 10
const phases = [...new Set([...producerPhases, ...consumerPhases])]

/** Ids grow with age: everything that began before a time has a smaller id than this. */
export const firstIdAt = (prefix: string, at: number): string =>
  `${prefix}_${encodeTime(Math.max(0, at), ULID_TIME_LENGTH)}`

export function listRuns(database: Database, query: RunQuery = {}): Listed<RunRow> {
  const conditions: string[] = []
  const params: SqlValue[] = []
  const where = (condition: string, ...values: SqlValue[]): void => {
    conditions.push(condition)
    params.push(...values)
  }
  const { workflowId, result, handler, trigger, text: searched = '', from, to, before } = query
  if (workflowId !== undefined) where(`r.workflow_id = ${BOUND}`, workflowId)
  if (from !== undefined) where(`r.id >= ${BOUND}`, firstIdAt('run', from))
  if (to !== undefined) where(`r.id < ${BOUND}`, firstIdAt('run', to))
  if (before !== undefined) where(`r.id < ${BOUND}`, before)
  const isSearch = searched !== '' || handler !== undefined || trigger !== undefined || isFinished(result)
  const until = isSearch ? endOfSlice(database, conditions, params) : undefined
  if (until !== undefined) where(`r.id >= ${BOUND}`, until)
  if (result === 'open') where('r.end_timestamp IS NULL')
  else if (result !== undefined) where(`r.result = ${BOUND}`, result)
  if (trigger !== undefined) where(`r."trigger" = ${BOUND}`, trigger)
  if (handler !== undefined) where(HAS_HANDLER, handler)
  if (searched !== '') {
    const pattern = contains(searched)
    where(HAS_TEXT, pattern, pattern, pattern)
  }
  const limit = pageLimit(query.limit)
  const sql = `${SELECT_RUNS} ${whereAll(conditions)} ORDER BY r.id DESC LIMIT ${BOUND}`
  return toSlice(database.all(sql, [...params, limit + 1]).map(rowToRunRow), limit, until)
}

const whereAll = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''

/** Runs that go on have an index of their own, and there are few. */
const isFinished = (result: RunQuery['result']): boolean => result !== undefined && result !== 'open'

/** How far down one search looks, of the runs that the index alone can tell. */
function endOfSlice(database: Database, conditions: readonly string[], params: readonly SqlValue[]) {
  const sql = `SELECT r.id FROM script_runs r ${whereAll(conditions)} ORDER BY r.id DESC LIMIT 1 OFFSET ${BOUND}`
  const row = database.get(sql, [...params, SLICE - 1])
  return row && text(row, 'id')
}

export const getRunRow = (database: Database, id: string): RunRow | undefined => {
  const row = database.get(`${SELECT_RUNS} WHERE r.id = ${BOUND}`, [id])
  return row && rowToRunRow(row)
}

export const listAttempts = (database: Database, scriptRunId: string): AttemptOutline[] =>
  database.all(SELECT_ATTEMPTS, [scriptRunId]).map(rowToAttempt)

function rowToRunRow(row: Row): RunRow {
  const question = textOrNull(row, 'question_id')
  return {
    ...rowToRun(row),
    workflowName: text(row, 'workflow_name'),
    version: integerOrNull(row, 'version'),
    question: question === null ? null : { id: question, actions: listOf(row, 'question_actions', escalationActions) },
  }
}

function rowToRun(row: Row): ScriptRun {
  return {
    id: text(row, 'id'),
    workflowId: text(row, 'workflow_id'),
    scriptId: text(row, 'script_id'),
    trigger: oneOf(row, 'trigger', runTriggers),
    result: oneOfOrNull(row, 'result', runResults),
    error: textOrNull(row, 'error'),
    cost: integer(row, 'cost'),
    handlerRunCount: integer(row, 'handler_run_count'),
    startTimestamp: integer(row, 'start_timestamp'),
    endTimestamp: integerOrNull(row, 'end_timestamp'),
  }
}

function rowToAttempt(row: Row): AttemptOutline {
  const { title } = row
  return {
    id: text(row, 'id'),
    handlerType: oneOf(row, 'handler_type', handlerTypes),
    handlerName: text(row, 'handler_name'),
    phase: oneOf(row, 'phase', phases),
    status: oneOf(row, 'status', runStatuses),
    retryOf: textOrNull(row, 'retry_of'),
    attempt: integer(row, 'attempt'),
    retryAt: integerOrNull(row, 'retry_at'),
    // The script's own word: anything may stand there.
    title: typeof title === 'string' || typeof title === 'number' ? String(title) : null,
    error: textOrNull(row, 'error'),
    errorType: oneOfOrNull(row, 'error_type', failureTypes),
    phaseTimes: text(row, 'phase_times'),
    startTimestamp: integer(row, 'start_timestamp'),
    endTimestamp: integerOrNull(row, 'end_timestamp'),
  }
}
