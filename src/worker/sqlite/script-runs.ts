import { runResults, runTriggers, type ScriptRun } from '#engine/model/script-run.ts'
import type { ScriptRunWrites } from '#engine/ports/store.ts'
import type { Database, Row } from './database.ts'
import { RowCache } from './row-cache.ts'
import { integer, integerOrNull, oneOf, oneOfOrNull, text, textOrNull } from './row.ts'

const COLUMNS = `id, workflow_id, script_id, "trigger", result, error, cost, handler_run_count, start_timestamp, end_timestamp`
const SELECT_ONE = `SELECT ${COLUMNS} FROM script_runs WHERE id = ?`
const SELECT_OPEN_OF = `SELECT ${COLUMNS} FROM script_runs WHERE workflow_id = ? AND end_timestamp IS NULL`
// The plus keeps SQLite from walking the whole table by id only to spare itself sorting a handful.
const SELECT_OPEN = `SELECT ${COLUMNS} FROM script_runs WHERE end_timestamp IS NULL ORDER BY +id`
const INSERT = `INSERT INTO script_runs (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const CLOSE = 'UPDATE script_runs SET result = ?, error = ?, end_timestamp = ? WHERE id = ?'
const REOPEN = 'UPDATE script_runs SET result = NULL, error = NULL, end_timestamp = NULL WHERE id = ?'
const COUNT_HANDLER_RUN = 'UPDATE script_runs SET handler_run_count = handler_run_count + 1 WHERE id = ?'
const ADD_COST = 'UPDATE script_runs SET cost = cost + ? WHERE id = ?'

export function createScriptRunRepository(database: Database): ScriptRunWrites {
  const known = new RowCache<ScriptRun | undefined>(database, 'script_runs')
  /** By workflow. */
  const open = new RowCache<{ id: string | null }>(database, 'script_runs')
  const one = (sql: string, key: string) => {
    const row = database.get(sql, [key])
    return row && rowToScriptRun(row)
  }
  const get = (id: string) => known.get(id, () => one(SELECT_ONE, id))
  /** For what leaves it open or closed as it was. */
  const count = (id: string, write: () => void, after: (run: ScriptRun) => ScriptRun) =>
    open.keep(() => known.change(id, write, (before) => before && after(before)))
  return {
    get,
    openOf(workflowId) {
      const { id } = open.get(workflowId, () => ({ id: one(SELECT_OPEN_OF, workflowId)?.id ?? null }))
      return id === null ? undefined : get(id)
    },
    listOpen: () => database.all(SELECT_OPEN).map(rowToScriptRun),
    insert(run) {
      database.run(INSERT, [
        run.id,
        run.workflowId,
        run.scriptId,
        run.trigger,
        run.result,
        run.error,
        run.cost,
        run.handlerRunCount,
        run.startTimestamp,
        run.endTimestamp,
      ])
    },
    close(id, result, error, endTimestamp) {
      database.changeOne(CLOSE, [result, error, endTimestamp, id])
    },
    reopen(id) {
      database.changeOne(REOPEN, [id])
    },
    countHandlerRun(id) {
      count(
        id,
        () => database.changeOne(COUNT_HANDLER_RUN, [id]),
        (run) => ({ ...run, handlerRunCount: run.handlerRunCount + 1 }),
      )
    },
    addCost(id, cost) {
      count(
        id,
        () => database.changeOne(ADD_COST, [cost, id]),
        (run) => ({ ...run, cost: run.cost + cost }),
      )
    },
  }
}

function rowToScriptRun(row: Row): ScriptRun {
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
