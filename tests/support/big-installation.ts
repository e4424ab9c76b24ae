import type { WorkflowConfig } from '#engine/model/workflow.ts'
import { encodeTime } from 'ulid'
import type { Database } from '#worker/sqlite/database.ts'
import { openTestStore } from './open-test-store.ts'

export interface BigInstallation {
  bytes: Uint8Array
  workflowId: string
  /** One with next to nothing in it, older than everything else: the worst place to look for something. */
  smallWorkflowId: string
  /** A run with very many handler runs. */
  longRunId: string
}

export interface BigSizes {
  runs: number
  eventsPerRun: number
  longRun: number
}

/** Young enough to be kept: what is old is archived by the engine, and would not be there to be looked at. */
const BEGINNING = Date.now() - 12 * 86_400_000
const idAt = (prefix: string, at: number): string => `${prefix}_${encodeTime(at, 10)}${'0'.repeat(16)}`
const SMALL = idAt('wf', BEGINNING)
const WORKFLOW = idAt('wf', BEGINNING + 1)
const RUN_EVERY_MS = 10_000
/** Ids begin with the time. SQL cannot spell it, so that it is spelt here, once for as many runs. */
const STRETCH = 100

const CONFIG = JSON.stringify({
  name: 'Big',
  permissions: [],
  topics: ['mail'],
  producers: { poll: { schedule: { interval: '1m' }, publishes: ['mail'] } },
  consumers: { keep: { subscribe: ['mail'], publishes: [], hasMutate: true, hasNext: false } },
} satisfies WorkflowConfig)

/** A real file with as much in it as some days of a very busy workflow leave behind, written by SQLite itself in one go. */
export async function buildBigInstallation({ runs, eventsPerRun, longRun }: BigSizes): Promise<BigInstallation> {
  const { database, exportBytes } = await openTestStore()
  const longRunId = idAt('run', BEGINNING + (runs + 1) * RUN_EVERY_MS)
  database.transaction(() => {
    insertWorkflow(database, SMALL, 1)
    insertWorkflow(database, WORKFLOW, 2)
    insertPrefixes(database, runs)
    insertEvents(database, { workflowId: SMALL, topicId: 1, from: 0, count: 3, eventsPerRun: 1 })
    insertRuns(database, runs)
    insertEvents(database, { workflowId: WORKFLOW, topicId: 2, from: 3, count: runs * eventsPerRun, eventsPerRun })
    insertLongRun(database, longRunId, longRun, BEGINNING + (runs + 1) * RUN_EVERY_MS)
    database.run('DROP TABLE prefixes')
  })
  return { bytes: exportBytes(), workflowId: WORKFLOW, smallWorkflowId: SMALL, longRunId }
}

const scriptOf = (workflowId: string): string => workflowId.replace('wf', 'scr')

function insertWorkflow(database: Database, id: string, topicId: number): void {
  const script = scriptOf(id)
  // Paused: what is measured is looking at it, not running it.
  database.run(
    `INSERT INTO workflows (id, name, status, active_script_id, active_version, handler_config, permissions, budget, created_at, updated_at)
     VALUES (?, ?, 'paused', ?, 1, ?, '[]', 100, ?, ?)`,
    [id, id === WORKFLOW ? 'Big' : 'Small', script, CONFIG, BEGINNING, BEGINNING],
  )
  database.run(
    `INSERT INTO scripts (id, workflow_id, version, source, config, created_at) VALUES (?, ?, 1, '', ?, ?)`,
    [script, id, CONFIG, BEGINNING],
  )
  database.run(`INSERT INTO topics (id, workflow_id, name, created_at) VALUES (?, ?, 'mail', ?)`, [
    topicId,
    id,
    BEGINNING,
  ])
}

function insertPrefixes(database: Database, runs: number): void {
  database.run('CREATE TABLE prefixes (n INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  for (let n = 0; n <= runs / STRETCH; n += 1) {
    database.run('INSERT INTO prefixes VALUES (?, ?)', [n, encodeTime(BEGINNING + n * STRETCH * RUN_EVERY_MS, 10)])
  }
}

const counting = (count: number): string =>
  `WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < ${count})`
const ofRun = (n: string): string => `${BEGINNING} + (${n}) * ${RUN_EVERY_MS}`

/** One in fifty failed; each has the attempt of its producer. */
function insertRuns(database: Database, runs: number): void {
  const id = `p.text || printf('%016d', c.n)`
  const source = `FROM c JOIN prefixes p ON p.n = c.n / ${STRETCH}`
  database.run(
    `${counting(runs)}
     INSERT INTO script_runs (id, workflow_id, script_id, "trigger", result, error, cost, handler_run_count, start_timestamp,
       end_timestamp)
     SELECT 'run_' || ${id}, '${WORKFLOW}', '${scriptOf(WORKFLOW)}', iif(c.n % 10, 'schedule', 'manual'),
       iif(c.n % 50, 'completed', 'failed'), iif(c.n % 50, NULL, 'amount is not defined'), 0, 1, ${ofRun('c.n')},
       ${ofRun('c.n')} + 900 ${source}`,
  )
  database.run(
    `${counting(runs)}
     INSERT INTO handler_runs (id, script_run_id, workflow_id, script_id, handler_type, handler_name, phase, status, attempt,
       retries_used, cost, phase_times, start_timestamp, end_timestamp)
     SELECT 'hr_' || ${id}, 'run_' || ${id}, '${WORKFLOW}', '${scriptOf(WORKFLOW)}', 'producer', 'poll', 'committed', 'committed', 1, 0,
       0, '[]', ${ofRun('c.n')}, ${ofRun('c.n')} + 900 ${source}`,
  )
}

interface Events {
  workflowId: string
  topicId: number
  /** Where their numbers begin. */
  from: number
  count: number
  eventsPerRun: number
}

function insertEvents(database: Database, { workflowId, topicId, from, count, eventsPerRun }: Events): void {
  const run = `c.n / ${eventsPerRun}`
  database.run(
    `${counting(count)}
     INSERT INTO events (id, topic_id, workflow_id, message_id, title, payload, status, caused_by, created_at)
     SELECT 'evt_' || p.text || printf('%016d', c.n + ${from}), ${topicId}, '${workflowId}', 'm' || c.n, 'Invoice ' || c.n,
       '{"total":' || c.n || '}', 'consumed', '[]', ${ofRun(run)}
     FROM c JOIN prefixes p ON p.n = ${run} / ${STRETCH}`,
  )
}

function insertLongRun(database: Database, id: string, attempts: number, startedAt: number): void {
  database.run(
    `INSERT INTO script_runs (id, workflow_id, script_id, "trigger", result, cost, handler_run_count, start_timestamp, end_timestamp)
     VALUES (?, '${WORKFLOW}', '${scriptOf(WORKFLOW)}', 'manual', 'completed', 0, ?, ?, ?)`,
    [id, attempts, startedAt, startedAt + attempts * 50],
  )
  const at = `${startedAt} + c.n * 50`
  database.run(
    `${counting(attempts)}
     INSERT INTO handler_runs (id, script_run_id, workflow_id, script_id, handler_type, handler_name, phase, status, attempt,
       retries_used, prepare_result, mutation_outcome, cost, phase_times, start_timestamp, end_timestamp)
     SELECT 'hr_' || substr('${id}', 5, 10) || printf('%016d', c.n), '${id}', '${WORKFLOW}', '${scriptOf(WORKFLOW)}', 'consumer', 'keep',
       'committed', 'committed', 1, 0, '{"reservations":[],"ui":{"title":"Keep mail ' || c.n || '"}}', 'none', 0,
       json_array(json_array('preparing', ${at}), json_array('mutating', ${at} + 10), json_array('emitting', ${at} + 30)),
       ${at}, ${at} + 45 FROM c`,
  )
}
