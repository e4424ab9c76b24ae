import type { HandlerState } from '#engine/model/workflow.ts'
import type { HandlerKey, HandlerStateWrites } from '#engine/ports/store.ts'
import { BOUND, EVER } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, integerOrNull, text, textOrNull } from './row.ts'

const SELECT = 'SELECT workflow_id, handler_name, state, wake_at FROM handler_state'
const SELECT_ONE = `${SELECT} WHERE workflow_id = ? AND handler_name = ?`
const SELECT_OF_WORKFLOW = `${SELECT} WHERE workflow_id = ${BOUND} ORDER BY handler_name`
const SELECT_DUE =
  'SELECT workflow_id, handler_name, wake_at FROM handler_state WHERE wake_at > ? AND wake_at <= ? ORDER BY wake_at, id'
const SELECT_NEXT_WAKE_AT = 'SELECT min(wake_at) AS wake_at FROM handler_state WHERE wake_at > ?'
const SET_STATE = `
  INSERT INTO handler_state (workflow_id, handler_name, state, updated_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (workflow_id, handler_name) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at`
const SET_WAKE_AT = `
  INSERT INTO handler_state (workflow_id, handler_name, wake_at, updated_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (workflow_id, handler_name) DO UPDATE SET wake_at = excluded.wake_at, updated_at = excluded.updated_at
  WHERE wake_at IS NOT excluded.wake_at`

export function createHandlerStateRepository(database: Database): HandlerStateWrites {
  return {
    get(workflowId, handlerName) {
      const row = database.get(SELECT_ONE, [workflowId, handlerName])
      return row && rowToHandlerState(row)
    },
    forWorkflow: (workflowId) => database.all(SELECT_OF_WORKFLOW, [workflowId]).map(rowToHandlerState),
    dueWakes: (now, after = EVER) =>
      database
        .all(SELECT_DUE, [after, now])
        .map((row) => ({ ...rowToHandlerKey(row), wakeAt: integer(row, 'wake_at') })),
    nextWakeAt(after) {
      const row = database.get(SELECT_NEXT_WAKE_AT, [after])
      return row ? integerOrNull(row, 'wake_at') : null
    },
    setState(workflowId, handlerName, state, now) {
      database.run(SET_STATE, [workflowId, handlerName, state, now])
    },
    setWakeAt(workflowId, handlerName, wakeAt, now) {
      database.run(SET_WAKE_AT, [workflowId, handlerName, wakeAt, now])
    },
  }
}

function rowToHandlerState(row: Row): HandlerState {
  return { ...rowToHandlerKey(row), state: textOrNull(row, 'state'), wakeAt: integerOrNull(row, 'wake_at') }
}

function rowToHandlerKey(row: Row): HandlerKey {
  return { workflowId: text(row, 'workflow_id'), handlerName: text(row, 'handler_name') }
}
