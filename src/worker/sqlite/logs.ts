import { consumerPhases, producerPhases } from '#engine/model/handler-run.ts'
import { logLevels, type LogLine } from '#engine/model/log.ts'
import type { LogReads, LogWrites } from '#engine/ports/store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row } from './database.ts'
import { integer, oneOf, text, textOrNull } from './row.ts'

const SELECT_OF_SCRIPT_RUN = `
  SELECT handler_run_id, phase, level, message, data, logged_at FROM logs WHERE script_run_id = ${BOUND} ORDER BY id`
const INSERT = `
  INSERT INTO logs (script_run_id, handler_run_id, workflow_id, phase, level, message, data, logged_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const PHASES = [...new Set([...producerPhases, ...consumerPhases])]

export function createLogRepository(database: Database): LogWrites & LogReads {
  return {
    append(run, lines) {
      for (const { phase, level, message, data, at } of lines) {
        database.run(INSERT, [run.scriptRunId, run.id, run.workflowId, phase, level, message, data, at])
      }
    },
    ofScriptRun: (scriptRunId) => database.all(SELECT_OF_SCRIPT_RUN, [scriptRunId]).map(rowToLogLine),
  }
}

function rowToLogLine(row: Row): LogLine & { handlerRunId: string } {
  return {
    handlerRunId: text(row, 'handler_run_id'),
    phase: oneOf(row, 'phase', PHASES),
    level: oneOf(row, 'level', logLevels),
    message: text(row, 'message'),
    data: textOrNull(row, 'data'),
    at: integer(row, 'logged_at'),
  }
}
