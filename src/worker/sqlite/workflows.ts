import { EngineBug } from '#engine/model/errors.ts'
import { escalationKinds } from '#engine/model/escalation.ts'
import { parseRetryPolicy, type RetryPolicy } from '#engine/model/retry-policy.ts'
import { workflowStatuses, type Block, type Workflow } from '#engine/model/workflow.ts'
import type { PlannedTimes, WorkflowWrites } from '#engine/ports/store.ts'
import type { Database, Row } from './database.ts'
import { RowCache } from './row-cache.ts'
import { integer, integerOrNull, jsonObject, oneOf, text, textList, textOrNull } from './row.ts'

const COLUMNS = `id, name, status, block_run_id, block_kind, block_message, active_script_id, active_version, handler_config,
  permissions, timezone, budget, retry_policy, retention_days, session_id, created_at, updated_at`
const SELECT_ONE = `SELECT ${COLUMNS} FROM workflows WHERE id = ?`
const SELECT_ALL = `SELECT ${COLUMNS} FROM workflows ORDER BY id`
const SELECT_STARTABLE = `
  SELECT id FROM workflows
  WHERE id IN (SELECT value FROM json_each(?)) AND status = 'active' AND block_run_id IS NULL`
const SELECT_PLANNED_TIMES = `
  SELECT json_each.value AS workflow_id,
    (SELECT min(p.next_run_at) FROM producer_schedules p WHERE p.workflow_id = json_each.value) AS next_run_at,
    (SELECT min(s.wake_at) FROM handler_state s WHERE s.workflow_id = json_each.value) AS wake_at,
    (SELECT min(h.retry_at) FROM handler_runs h WHERE h.workflow_id = json_each.value AND h.retry_at IS NOT NULL) AS retry_at
  FROM json_each(?)`
const INSERT = `INSERT INTO workflows (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const SET_STATUS = 'UPDATE workflows SET status = ?, updated_at = ? WHERE id = ?'
const SET_BLOCK = `
  UPDATE workflows SET block_run_id = ?, block_kind = ?, block_message = ?, updated_at = ? WHERE id = ?`
const SET_ACTIVE_SCRIPT = `
  UPDATE workflows SET name = ?, active_script_id = ?, active_version = ?, handler_config = ?, updated_at = ? WHERE id = ?`
const SET_SETTINGS = `
  UPDATE workflows SET name = ?, budget = ?, timezone = ?, retry_policy = ?, retention_days = ?, updated_at = ? WHERE id = ?`
const SET_PERMISSIONS = 'UPDATE workflows SET permissions = ?, updated_at = ? WHERE id = ?'
const DELETE = 'DELETE FROM workflows WHERE id = ?'

export function createWorkflowRepository(database: Database): WorkflowWrites {
  const known = new RowCache<Workflow | undefined>(database, 'workflows')
  return {
    get: (id) =>
      known.get(id, () => {
        const row = database.get(SELECT_ONE, [id])
        return row && rowToWorkflow(row)
      }),
    startable: (ids) => database.all(SELECT_STARTABLE, [JSON.stringify(ids)]).map((row) => text(row, 'id')),
    plannedTimes: (ids) => database.all(SELECT_PLANNED_TIMES, [JSON.stringify(ids)]).map(rowToPlannedTimes),
    list: () => database.all(SELECT_ALL).map(rowToWorkflow),
    insert(workflow) {
      database.run(INSERT, [
        workflow.id,
        workflow.name,
        workflow.status,
        workflow.block?.runId ?? null,
        workflow.block?.kind ?? null,
        workflow.block?.message ?? null,
        workflow.activeScriptId,
        workflow.activeVersion,
        workflow.handlerConfig,
        JSON.stringify(workflow.permissions),
        workflow.timezone,
        workflow.budget,
        workflow.retryPolicy && JSON.stringify(workflow.retryPolicy),
        workflow.retentionDays,
        workflow.sessionId,
        workflow.createdAt,
        workflow.updatedAt,
      ])
    },
    setStatus(id, status, now) {
      database.changeOne(SET_STATUS, [status, now, id])
    },
    setBlock(id, block, now) {
      database.changeOne(SET_BLOCK, [block?.runId ?? null, block?.kind ?? null, block?.message ?? null, now, id])
    },
    setActiveScript(id, { name, activeScriptId, activeVersion, handlerConfig }, now) {
      database.changeOne(SET_ACTIVE_SCRIPT, [name, activeScriptId, activeVersion, handlerConfig, now, id])
    },
    setSettings(id, { name, budget, timezone, retryPolicy, retentionDays }, now) {
      const policy = retryPolicy && JSON.stringify(retryPolicy)
      database.changeOne(SET_SETTINGS, [name, budget, timezone, policy, retentionDays, now, id])
    },
    setPermissions(id, permissions, now) {
      database.changeOne(SET_PERMISSIONS, [JSON.stringify(permissions), now, id])
    },
    delete(id) {
      database.changeOne(DELETE, [id])
    },
  }
}

function rowToWorkflow(row: Row): Workflow {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    status: oneOf(row, 'status', workflowStatuses),
    block: rowToBlock(row),
    activeScriptId: textOrNull(row, 'active_script_id'),
    activeVersion: integer(row, 'active_version'),
    handlerConfig: text(row, 'handler_config'),
    permissions: textList(row, 'permissions'),
    timezone: textOrNull(row, 'timezone'),
    budget: integer(row, 'budget'),
    retryPolicy: rowToRetryPolicy(row),
    retentionDays: integerOrNull(row, 'retention_days'),
    sessionId: textOrNull(row, 'session_id'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

function rowToRetryPolicy(row: Row): RetryPolicy | null {
  if (row['retry_policy'] === null) return null
  const policy = parseRetryPolicy(jsonObject(row, 'retry_policy'))
  if (policy.ok) return policy.value
  throw new EngineBug(`The retry policy of ${text(row, 'id')} cannot be used: ${policy.error[0]?.message ?? ''}`)
}

function rowToPlannedTimes(row: Row): PlannedTimes {
  return {
    workflowId: text(row, 'workflow_id'),
    nextRunAt: integerOrNull(row, 'next_run_at'),
    wakeAt: integerOrNull(row, 'wake_at'),
    retryAt: integerOrNull(row, 'retry_at'),
  }
}

function rowToBlock(row: Row): Block | null {
  const runId = textOrNull(row, 'block_run_id')
  if (runId === null) return null
  return { runId, kind: oneOf(row, 'block_kind', escalationKinds), message: text(row, 'block_message') }
}
