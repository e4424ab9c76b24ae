import type { Database } from '#worker/sqlite/database.ts'

const EVENTS_PER_RUN = 10
const DAY_MS = 86_400_000

/**
 * Fills the past of a workflow that has a topic `item` and a consumer `carry`: so many consumed events, ten to an attempt, each
 * attempt with its mutation, a hundred attempts to a run. Written by SQL: the engine would take hours. `from` is how many there are
 * already, a multiple of a thousand.
 */
export const addFinishedEvents = (database: Database, workflowId: string, events: number, from = 0): void => {
  if (events === 0) return
  const workflow = database.get('SELECT active_script_id FROM workflows WHERE id = ?', [workflowId])
  const topic = database.get(`SELECT id FROM topics WHERE workflow_id = ? AND name = 'item'`, [workflowId])
  if (workflow === undefined || topic === undefined)
    throw new Error(`${workflowId} is no workflow with a topic "item".`)
  const scriptId = String(workflow['active_script_id'])
  const attempts = Math.ceil(events / EVENTS_PER_RUN)
  const runs = Math.ceil(attempts / 100)
  // Ids that sort before all real ones. Old enough not to count for today, young enough not to be archived yet.
  const id = (prefix: string, n: string) => `'${prefix}_00000000000000' || printf('%012d', ${n})`
  const at = `${Date.now() - 3 * DAY_MS} + n`
  const numbers = (count: number, first: number) =>
    `WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${first + count})`
  const firstAttempt = from / EVENTS_PER_RUN
  database.transaction(() => {
    database.run(
      `INSERT INTO script_runs (id, workflow_id, script_id, "trigger", result, cost, handler_run_count, start_timestamp, end_timestamp)
       ${numbers(runs, firstAttempt / 100)} SELECT ${id('run', 'n')}, ?, ?, 'event', 'completed', 0, 100, ${at}, ${at} + 1 FROM numbers`,
      [workflowId, scriptId],
    )
    database.run(
      `INSERT INTO handler_runs (id, script_run_id, workflow_id, script_id, handler_type, handler_name, phase, status, attempt,
         retries_used, prepare_result, mutation_outcome, mutation_result, cost, phase_times, start_timestamp, end_timestamp)
       ${numbers(attempts, firstAttempt)} SELECT ${id('hr', 'n')}, ${id('run', 'n / 100')}, ?, ?, 'consumer', 'carry', 'committed', 'committed', 1,
         0, '{"reservations":[],"data":{"n":' || n || '}}', 'applied', 'null', 0,
         '[["pending",' || n || '],["preparing",' || n || '],["prepared",' || n || '],["committed",' || n || ']]', ${at}, ${at} + 1 FROM numbers`,
      [workflowId, scriptId],
    )
    database.run(
      `INSERT INTO mutations (id, handler_run_id, workflow_id, tool_namespace, tool_method, params, idempotency_key, status, result,
         created_at, updated_at)
       ${numbers(attempts, firstAttempt)} SELECT ${id('mut', 'n')}, ${id('hr', 'n')}, ?, 'noop', 'send', '{"n":' || n || '}', 'hf_' || n, 'applied',
         'null', ${at}, ${at} FROM numbers`,
      [workflowId],
    )
    database.run(
      `INSERT INTO events (id, topic_id, workflow_id, message_id, payload, status, caused_by, created_at)
       ${numbers(events, from)} SELECT ${id('evt', 'n')}, ?, ?, 'old' || n, '{"n":' || n || ',"text":"a mail that was dealt with"}',
         'consumed', '[]', ${at} FROM numbers`,
      [Number(topic['id']), workflowId],
    )
  })
}
