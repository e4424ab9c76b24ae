import { consumerPhases, producerPhases, runStatuses } from '#engine/model/handler-run.ts'
import { runResults } from '#engine/model/script-run.ts'
import type { HandlerGlance, RunGlance, ScheduleView, ScriptVersion, TopicGlance } from '../../views-api.ts'
import { BOUND } from '../bound.ts'
import type { Database, Row } from '../database.ts'
import { integer, integerOrNull, oneOf, oneOfOrNull, text, textOrNull } from '../row.ts'

const SELECT_SCHEDULES = `
  SELECT workflow_id, producer_name, schedule_type, schedule_value, timezone, next_run_at, last_run_at
  FROM producer_schedules ORDER BY workflow_id, producer_name`
const SELECT_LAST_RUNS = `
  SELECT r.id, r.workflow_id, r.result, r.start_timestamp, r.end_timestamp
  FROM workflows w JOIN script_runs r ON r.id = (SELECT max(id) FROM script_runs WHERE workflow_id = w.id)`
const SELECT_TOPICS = `
  SELECT t.name,
    (SELECT count(*) FROM events e WHERE e.topic_id = t.id AND e.status = 'pending') AS pending,
    (SELECT created_at FROM events WHERE id =
      (SELECT min(e.id) FROM events e WHERE e.topic_id = t.id AND e.status = 'pending')) AS oldest_pending_at,
    (SELECT count(*) FROM events e WHERE e.reserved_by_run_id IS NOT NULL AND e.topic_id = t.id) AS reserved
  FROM topics t WHERE t.workflow_id = ${BOUND} ORDER BY t.id`
const SELECT_STATES = `SELECT handler_name, state, wake_at FROM handler_state WHERE workflow_id = ${BOUND}`
const SELECT_LAST_ATTEMPT = `
  SELECT id, script_run_id, status, phase, start_timestamp, end_timestamp FROM handler_runs
  WHERE workflow_id = ${BOUND} AND handler_name = ${BOUND} ORDER BY id DESC LIMIT 1`
const SELECT_VERSIONS = `
  SELECT s.id, s.version, s.created_at, s.id IS w.active_script_id AS is_active
  FROM scripts s JOIN workflows w ON w.id = s.workflow_id WHERE s.workflow_id = ${BOUND} ORDER BY s.version DESC`

const phases = [...new Set([...producerPhases, ...consumerPhases])]

export function schedulesByWorkflow(database: Database): Map<string, ScheduleView[]> {
  const schedules = new Map<string, ScheduleView[]>()
  for (const row of database.all(SELECT_SCHEDULES)) {
    const workflowId = text(row, 'workflow_id')
    schedules.set(workflowId, [...(schedules.get(workflowId) ?? []), rowToSchedule(row)])
  }
  return schedules
}

export const lastRunsByWorkflow = (database: Database): Map<string, RunGlance> =>
  new Map(database.all(SELECT_LAST_RUNS).map((row) => [text(row, 'workflow_id'), rowToRunGlance(row)]))

export const listTopics = (database: Database, workflowId: string): TopicGlance[] =>
  database.all(SELECT_TOPICS, [workflowId]).map((row) => ({
    name: text(row, 'name'),
    pending: integer(row, 'pending'),
    reserved: integer(row, 'reserved'),
    oldestPendingAt: integerOrNull(row, 'oldest_pending_at'),
  }))

export function listHandlers(
  database: Database,
  workflowId: string,
  handlers: readonly Pick<HandlerGlance, 'name' | 'type'>[],
): HandlerGlance[] {
  const states = new Map(database.all(SELECT_STATES, [workflowId]).map((row) => [text(row, 'handler_name'), row]))
  return handlers.map(({ name, type }) => {
    const state = states.get(name)
    const last = database.get(SELECT_LAST_ATTEMPT, [workflowId, name])
    return {
      name,
      type,
      state: state ? textOrNull(state, 'state') : null,
      wakeAt: state ? integerOrNull(state, 'wake_at') : null,
      lastAttempt: last ? rowToLastAttempt(last) : null,
    }
  })
}

export const listVersions = (database: Database, workflowId: string): ScriptVersion[] =>
  database.all(SELECT_VERSIONS, [workflowId]).map((row) => ({
    id: text(row, 'id'),
    version: integer(row, 'version'),
    createdAt: integer(row, 'created_at'),
    isActive: integer(row, 'is_active') === 1,
  }))

const rowToSchedule = (row: Row): ScheduleView => ({
  producerName: text(row, 'producer_name'),
  type: oneOf(row, 'schedule_type', ['interval', 'cron']),
  value: text(row, 'schedule_value'),
  timezone: textOrNull(row, 'timezone'),
  nextRunAt: integer(row, 'next_run_at'),
  lastRunAt: integerOrNull(row, 'last_run_at'),
})

const rowToRunGlance = (row: Row): RunGlance => ({
  id: text(row, 'id'),
  result: oneOfOrNull(row, 'result', runResults),
  startTimestamp: integer(row, 'start_timestamp'),
  endTimestamp: integerOrNull(row, 'end_timestamp'),
})

const rowToLastAttempt = (row: Row): NonNullable<HandlerGlance['lastAttempt']> => ({
  id: text(row, 'id'),
  scriptRunId: text(row, 'script_run_id'),
  status: oneOf(row, 'status', runStatuses),
  phase: oneOf(row, 'phase', phases),
  startTimestamp: integer(row, 'start_timestamp'),
  endTimestamp: integerOrNull(row, 'end_timestamp'),
})
