import type { HandlerState } from '#engine/model/workflow.ts'
import type { HandlerKey, HandlerStateWrites } from '#engine/ports/store.ts'
import { BOUND, EVER } from './bound.ts'
import { hasNul, type Database, type Row } from './database.ts'
import { NextTime } from './next-time.ts'
import { RowCache } from './row-cache.ts'
import { integer, integerOrNull, text, textOrNull } from './row.ts'

const SELECT = 'SELECT workflow_id, handler_name, state, wake_at FROM handler_state'
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
  /** Of a whole workflow: each of its attempts begins with all of them, and ends with a change of one. */
  const known = new RowCache<HandlerState[]>(database, 'handler_state')
  const nextWakeAt = new NextTime(database, 'handler_state', (after) => {
    const row = database.get(SELECT_NEXT_WAKE_AT, [after])
    return row ? integerOrNull(row, 'wake_at') : null
  })
  const forWorkflow = (workflowId: string) =>
    known.get(workflowId, () => database.all(SELECT_OF_WORKFLOW, [workflowId]).map(rowToHandlerState))
  const get = (workflowId: string, handlerName: string) =>
    forWorkflow(workflowId).find((row) => row.handlerName === handlerName)
  return {
    get,
    forWorkflow,
    dueWakes: (now, after = EVER) =>
      database
        .all(SELECT_DUE, [after, now])
        .map((row) => ({ ...rowToHandlerKey(row), wakeAt: integer(row, 'wake_at') })),
    nextWakeAt: (after) => nextWakeAt.after(after),
    setState(workflowId, handlerName, state, now) {
      const setState = () => database.run(SET_STATE, [workflowId, handlerName, state, now])
      nextWakeAt.keep(() =>
        known.change(workflowId, setState, (before) =>
          hasNul(state) ? undefined : withState(before, handlerName, state),
        ),
      )
    },
    setWakeAt(workflowId, handlerName, wakeAt, now) {
      // Every attempt says when its handler wants to be woken, and nearly every one says the same as before.
      if (get(workflowId, handlerName)?.wakeAt === wakeAt) return
      database.run(SET_WAKE_AT, [workflowId, handlerName, wakeAt, now])
    },
  }
}

/** Undefined for a handler that had no state: then the order of the rows has to be asked for. */
const withState = (rows: HandlerState[] | undefined, handlerName: string, state: string) =>
  rows?.some((row) => row.handlerName === handlerName)
    ? rows.map((row) => (row.handlerName === handlerName ? { ...row, state } : row))
    : undefined

function rowToHandlerState(row: Row): HandlerState {
  return { ...rowToHandlerKey(row), state: textOrNull(row, 'state'), wakeAt: integerOrNull(row, 'wake_at') }
}

function rowToHandlerKey(row: Row): HandlerKey {
  return { workflowId: text(row, 'workflow_id'), handlerName: text(row, 'handler_name') }
}
