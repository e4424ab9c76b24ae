import type { ProducerSchedule } from '#engine/model/workflow.ts'
import type { ProducerScheduleWrites } from '#engine/ports/store.ts'
import { BOUND, EVER } from './bound.ts'
import type { Database, Row } from './database.ts'
import { NextTime } from './next-time.ts'
import { RowCache } from './row-cache.ts'
import { integer, integerOrNull, oneOf, text, textOrNull } from './row.ts'

const COLUMNS = 'workflow_id, producer_name, schedule_type, schedule_value, timezone, next_run_at, last_run_at'
const SELECT_OF_WORKFLOW = `SELECT ${COLUMNS} FROM producer_schedules WHERE workflow_id = ${BOUND} ORDER BY producer_name`
const SELECT_DUE = `SELECT ${COLUMNS} FROM producer_schedules WHERE next_run_at > ? AND next_run_at <= ? ORDER BY next_run_at, id`
const SELECT_NEXT_RUN_AT = 'SELECT min(next_run_at) AS next_run_at FROM producer_schedules WHERE next_run_at > ?'
const SELECT_PLANNED_AHEAD = `SELECT ${COLUMNS} FROM producer_schedules WHERE next_run_at > ?1 AND updated_at > ?1`
const PUT = `
  INSERT INTO producer_schedules (${COLUMNS}, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (workflow_id, producer_name) DO UPDATE SET
    schedule_type = excluded.schedule_type, schedule_value = excluded.schedule_value, timezone = excluded.timezone,
    next_run_at = excluded.next_run_at, last_run_at = excluded.last_run_at, updated_at = excluded.updated_at`
const REMOVE = 'DELETE FROM producer_schedules WHERE workflow_id = ? AND producer_name = ?'
const SERVED = `
  UPDATE producer_schedules SET next_run_at = ?, last_run_at = ?, updated_at = ?
  WHERE workflow_id = ? AND producer_name = ?`

export function createProducerScheduleRepository(database: Database): ProducerScheduleWrites {
  const known = new RowCache<ProducerSchedule[]>(database, 'producer_schedules')
  const nextRunAt = new NextTime(database, 'producer_schedules', (after) => {
    const row = database.get(SELECT_NEXT_RUN_AT, [after])
    return row ? integerOrNull(row, 'next_run_at') : null
  })
  return {
    forWorkflow: (workflowId) =>
      known.get(workflowId, () => database.all(SELECT_OF_WORKFLOW, [workflowId]).map(rowToProducerSchedule)),
    due: (now, after = EVER) => database.all(SELECT_DUE, [after, now]).map(rowToProducerSchedule),
    nextRunAt: (after) => nextRunAt.after(after),
    plannedAhead: (now) => database.all(SELECT_PLANNED_AHEAD, [now]).map(rowToProducerSchedule),
    put(schedule, now) {
      const { workflowId, producerName, scheduleType, scheduleValue, timezone, nextRunAt, lastRunAt } = schedule
      const values = [workflowId, producerName, scheduleType, scheduleValue, timezone, nextRunAt, lastRunAt]
      database.run(PUT, [...values, now, now])
    },
    remove(workflowId, producerName) {
      database.run(REMOVE, [workflowId, producerName])
    },
    served(workflowId, producerName, nextRunAt, lastRunAt) {
      database.changeOne(SERVED, [nextRunAt, lastRunAt, lastRunAt, workflowId, producerName])
    },
  }
}

function rowToProducerSchedule(row: Row): ProducerSchedule {
  return {
    workflowId: text(row, 'workflow_id'),
    producerName: text(row, 'producer_name'),
    scheduleType: oneOf(row, 'schedule_type', ['interval', 'cron']),
    scheduleValue: text(row, 'schedule_value'),
    timezone: textOrNull(row, 'timezone'),
    nextRunAt: integer(row, 'next_run_at'),
    lastRunAt: integerOrNull(row, 'last_run_at'),
  }
}
