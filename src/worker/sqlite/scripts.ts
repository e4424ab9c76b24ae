import type { Script } from '#engine/model/workflow.ts'
import type { ScriptWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, text } from './row.ts'

const COLUMNS = 'id, workflow_id, version, source, config, created_at'
const SELECT_ONE = `SELECT ${COLUMNS} FROM scripts WHERE id = ?`
const SELECT_BY_WORKFLOW = `SELECT ${COLUMNS} FROM scripts WHERE workflow_id = ${BOUND} ORDER BY version`
const INSERT = `INSERT INTO scripts (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`

export function createScriptRepository(database: Database): ScriptWrites {
  return {
    get(id) {
      const row = database.get(SELECT_ONE, [id])
      return row && rowToScript(row)
    },
    listByWorkflow: (workflowId) => database.all(SELECT_BY_WORKFLOW, [workflowId]).map(rowToScript),
    insert({ id, workflowId, version, source, config, createdAt }) {
      database.run(INSERT, [id, workflowId, version, source, config, createdAt])
    },
  }
}

function rowToScript(row: Row): Script {
  return {
    id: text(row, 'id'),
    workflowId: text(row, 'workflow_id'),
    version: integer(row, 'version'),
    source: text(row, 'source'),
    config: text(row, 'config'),
    createdAt: integer(row, 'created_at'),
  }
}
