import type { Json } from '#engine/model/json.ts'
import { agentStates, type SessionAgent } from '#engine/model/session.ts'
import type { AgentInPlan, AgentPatch, SessionAgentWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row, SqlValue } from './database.ts'
import { integer, integerOrNull, oneOf, text, textList, textOrNull } from './row.ts'

const COLUMN_OF = {
  id: 'agent_id',
  sessionId: 'session_id',
  key: '"key"',
  role: 'role',
  instance: 'instance',
  position: 'position',
  task: 'task',
  state: 'state',
  dependencies: 'dependencies',
  stage: 'stage',
  workflowId: 'workflow_id',
  runId: 'run_id',
  exitCode: 'exit_code',
  output: 'output',
  errorMessage: 'error_message',
  createdAt: 'created_at',
  startedAt: 'started_at',
  completedAt: 'completed_at',
} as const satisfies Record<keyof SessionAgent, string>
const PROPERTIES = Object.keys(COLUMN_OF) as (keyof SessionAgent)[]

const COLUMNS = `${Object.values(COLUMN_OF).join(', ')}, task_type`
const SELECT_ONE = `SELECT ${COLUMNS} FROM session_agents WHERE agent_id = ?`
const SELECT_OF_WORKFLOW = `SELECT ${COLUMNS} FROM session_agents WHERE workflow_id = ?`
const SELECT_OF_SESSION = `SELECT ${COLUMNS} FROM session_agents WHERE session_id = ${BOUND} ORDER BY position`
const SELECT_PLAN = `
  SELECT agent_id, "key", role, state, dependencies, stage, position, workflow_id, started_at
  FROM session_agents WHERE session_id = ${BOUND} ORDER BY position`
const SELECT_OUTPUTS = `
  SELECT "key", output FROM session_agents
  WHERE session_id = ? AND "key" IN (SELECT value FROM json_each(?)) AND output IS NOT NULL AND state = 'completed'`
const INSERT = `INSERT INTO session_agents (${COLUMNS}) VALUES (${PROPERTIES.map(() => '?').join(', ')}, ?)`
const update = (properties: readonly (keyof SessionAgent)[]) =>
  `UPDATE session_agents SET ${properties.map((property) => `${COLUMN_OF[property]} = ?`).join(', ')} WHERE agent_id = ?`

export function createSessionAgentRepository(database: Database): SessionAgentWrites {
  const one = (sql: string, params: SqlValue[]) => {
    const row = database.get(sql, params)
    return row && rowToAgent(row)
  }
  return {
    get: (id) => one(SELECT_ONE, [id]),
    ofWorkflow: (workflowId) => one(SELECT_OF_WORKFLOW, [workflowId]),
    ofSession: (sessionId) => database.all(SELECT_OF_SESSION, [sessionId]).map(rowToAgent),
    planOf: (sessionId) => database.all(SELECT_PLAN, [sessionId]).map(rowToAgentInPlan),
    outputs: (sessionId, keys) =>
      new Map(
        database
          .all(SELECT_OUTPUTS, [sessionId, JSON.stringify(keys)])
          .map((row) => [text(row, 'key'), text(row, 'output')]),
      ),
    insert(agent) {
      const { task } = agent
      const isText = typeof task === 'string'
      const row = {
        ...agent,
        task: isText ? task : JSON.stringify(task),
        dependencies: JSON.stringify(agent.dependencies),
      }
      database.run(INSERT, [...PROPERTIES.map((property) => row[property]), isText ? 'text' : 'json'])
    },
    update(id, patch) {
      const changed = PROPERTIES.filter((property) => patch[property as keyof AgentPatch] !== undefined)
      if (changed.length === 0) return
      const values = changed.map((property) => patch[property as keyof AgentPatch] as SqlValue)
      database.changeOne(update(changed), [...values, id])
    },
  }
}

function rowToAgentInPlan(row: Row): AgentInPlan {
  return {
    id: text(row, 'agent_id'),
    key: text(row, 'key'),
    role: text(row, 'role'),
    state: oneOf(row, 'state', agentStates),
    dependencies: textList(row, 'dependencies'),
    stage: integerOrNull(row, 'stage'),
    position: integer(row, 'position'),
    workflowId: textOrNull(row, 'workflow_id'),
    startedAt: integerOrNull(row, 'started_at'),
  }
}

function rowToAgent(row: Row): SessionAgent {
  return {
    ...rowToAgentInPlan(row),
    sessionId: text(row, 'session_id'),
    instance: integer(row, 'instance'),
    task: row['task_type'] === 'json' ? (JSON.parse(text(row, 'task')) as Json) : text(row, 'task'),
    runId: textOrNull(row, 'run_id'),
    exitCode: integerOrNull(row, 'exit_code'),
    output: textOrNull(row, 'output'),
    errorMessage: textOrNull(row, 'error_message'),
    createdAt: integer(row, 'created_at'),
    completedAt: integerOrNull(row, 'completed_at'),
  }
}
