import type { Database } from './database.ts'
import { text } from './row.ts'
import { SESSION_INVARIANTS } from './session-invariants.ts'

/** Each query yields one sentence per breach. A thousand like ones help nobody more than the first few. */
const SHOWN_PER_INVARIANT = 20

/*
 * These run at every start, over everything that was ever kept. CROSS JOIN is SQLite's way of saying "in this order": from the
 * few (what is reserved, active, retried, blocked: each a partial index) to the many, never the other way round.
 */

/** An attempt that may hold events although it does not move: it is retried or settled with what it holds. */
const MAY_HOLD_EVENTS = `(
  h.status = 'active'
  OR (
    h.status IN ('paused:transient', 'paused:approval', 'paused:reconciliation', 'failed:logic', 'failed:internal', 'crashed')
    AND (h.phase IN ('mutated', 'emitting') OR h.status = 'paused:reconciliation')
    AND NOT EXISTS (SELECT 1 FROM handler_runs later WHERE later.retry_of = h.id)
  )
)`

const EVENT_HELD_BY_NOBODY_WHO_MAY = `
  SELECT format('Event %s is reserved by run %s, which is %s in phase %s and neither active nor awaiting retry.',
    e.id, h.id, h.status, h.phase) AS breach
  FROM events e CROSS JOIN handler_runs h ON h.id = e.reserved_by_run_id
  WHERE e.reserved_by_run_id IS NOT NULL AND h.status <> 'committed' AND NOT ${MAY_HOLD_EVENTS}`

const EVENT_HELD_BY_A_MISSING_RUN = `
  SELECT format('Event %s is reserved by run %s, which does not exist.', e.id, e.reserved_by_run_id) AS breach
  FROM events e
  WHERE e.reserved_by_run_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM handler_runs h WHERE h.id = e.reserved_by_run_id)`

const EVENT_LEFT_BY_A_COMMITTED_RUN = `
  SELECT format('Run %s is committed, but event %s is still reserved by it.', h.id, e.id) AS breach
  FROM events e CROSS JOIN handler_runs h ON h.id = e.reserved_by_run_id
  WHERE e.reserved_by_run_id IS NOT NULL AND h.status = 'committed'`

const SEVERAL_ACTIVE_HANDLERS = `
  SELECT format('Workflow %s has %d active handler runs at once: %s.', workflow_id, count(*), group_concat(id, ', ')) AS breach
  FROM handler_runs WHERE status = 'active' GROUP BY workflow_id HAVING count(*) > 1`

const SEVERAL_OPEN_RUNS = `
  SELECT format('Workflow %s has %d open runs at once: %s.', workflow_id, count(*), group_concat(id, ', ')) AS breach
  FROM script_runs WHERE end_timestamp IS NULL GROUP BY workflow_id HAVING count(*) > 1`

const ACTIVE_IN_A_CLOSED_RUN = `
  SELECT format('Handler run %s is active, but its run %s has ended.', h.id, r.id) AS breach
  FROM handler_runs h CROSS JOIN script_runs r ON r.id = h.script_run_id
  WHERE h.status = 'active' AND r.end_timestamp IS NOT NULL`

const SEVERAL_MUTATIONS = `
  SELECT format('Handler run %s has %d mutations: %s.', run.id, run.mutations,
    (SELECT group_concat(m.id, ', ') FROM mutations m WHERE m.handler_run_id = run.id)) AS breach
  FROM (
    SELECT handler_run_id AS id, count(*) AS mutations FROM mutations GROUP BY handler_run_id HAVING count(*) > 1
  ) run`

const APPLIED_TWICE = `
  WITH RECURSIVE ancestors (mutation_id, run_id) AS (
    SELECT m.id, h.retry_of FROM handler_runs h CROSS JOIN mutations m ON m.handler_run_id = h.id
    WHERE h.retry_of IS NOT NULL AND m.status = 'applied'
    UNION ALL
    SELECT a.mutation_id, h.retry_of FROM ancestors a JOIN handler_runs h ON h.id = a.run_id WHERE h.retry_of IS NOT NULL
  )
  SELECT format('Mutations %s and %s were both applied in one chain of retries.', earlier.id, a.mutation_id) AS breach
  FROM ancestors a CROSS JOIN mutations earlier ON earlier.handler_run_id = a.run_id WHERE earlier.status = 'applied'`

const RETRIED_TWICE = `
  SELECT format('Handler run %s was retried %d times: %s.', retry_of, count(*), group_concat(id, ', ')) AS breach
  FROM handler_runs WHERE retry_of IS NOT NULL GROUP BY retry_of HAVING count(*) > 1`

const CHAIN_OUT_OF_STEP = `
  SELECT format('Handler run %s retries %s, but is not the next attempt of the same handler in the same run.', h.id, p.id)
    AS breach
  FROM handler_runs h CROSS JOIN handler_runs p ON p.id = h.retry_of
  WHERE h.retry_of IS NOT NULL AND (
    h.attempt <> p.attempt + 1 OR h.script_run_id <> p.script_run_id OR h.handler_name <> p.handler_name
  )`

const RETRY_DUE_AFTER_IT_WAS_RETRIED = `
  SELECT format('Handler run %s still waits for a retry, but was retried by %s.', h.id, later.id) AS breach
  FROM handler_runs h CROSS JOIN handler_runs later ON later.retry_of = h.id
  WHERE h.retry_at IS NOT NULL`

const COUNTERS_OFF = `
  SELECT format('Run %s counts %d handler runs at a cost of %d, but its rows say %d and %d.',
    r.id, r.handler_run_count, r.cost, coalesce(actual.runs, 0), coalesce(actual.cost, 0)) AS breach
  FROM script_runs r
  LEFT JOIN (SELECT script_run_id, count(*) AS runs, sum(cost) AS cost FROM handler_runs GROUP BY script_run_id) actual
    ON actual.script_run_id = r.id
  WHERE r.handler_run_count <> coalesce(actual.runs, 0) OR r.cost <> coalesce(actual.cost, 0)`

const BLOCK_NOBODY_CAN_SETTLE = `
  SELECT format('Workflow %s is blocked by run %s, which has no open escalation.', w.id, w.block_run_id) AS breach
  FROM workflows w
  WHERE w.block_run_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM escalations x WHERE x.handler_run_id = w.block_run_id AND x.workflow_id = w.id AND x.resolved_at IS NULL
  )`

const ESCALATION_WITHOUT_BLOCK = `
  SELECT format('Escalation %s of run %s is open, but does not block workflow %s.', x.id, x.handler_run_id, x.workflow_id)
    AS breach
  FROM escalations x
  WHERE x.resolved_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM workflows w WHERE w.id = x.workflow_id AND w.block_run_id = x.handler_run_id
  )`

const WAKE_OF_NO_CONSUMER = `
  SELECT format('Handler %s of workflow %s has a wake time, but is no consumer of it.', s.handler_name, s.workflow_id)
    AS breach
  FROM handler_state s CROSS JOIN workflows w ON w.id = s.workflow_id
  WHERE s.wake_at IS NOT NULL
    AND s.handler_name NOT IN (SELECT key FROM json_each(w.handler_config, '$.consumers'))`

const FOREIGN_WORKFLOW = `
  SELECT format('Handler run %s says workflow %s, but its run %s belongs to %s.', h.id, h.workflow_id, r.id, r.workflow_id)
    AS breach
  FROM handler_runs h JOIN script_runs r ON r.id = h.script_run_id WHERE h.workflow_id <> r.workflow_id`

const INVARIANTS = [
  EVENT_HELD_BY_NOBODY_WHO_MAY,
  EVENT_HELD_BY_A_MISSING_RUN,
  EVENT_LEFT_BY_A_COMMITTED_RUN,
  SEVERAL_ACTIVE_HANDLERS,
  SEVERAL_OPEN_RUNS,
  ACTIVE_IN_A_CLOSED_RUN,
  SEVERAL_MUTATIONS,
  APPLIED_TWICE,
  RETRIED_TWICE,
  CHAIN_OUT_OF_STEP,
  RETRY_DUE_AFTER_IT_WAS_RETRIED,
  COUNTERS_OFF,
  BLOCK_NOBODY_CAN_SETTLE,
  ESCALATION_WITHOUT_BLOCK,
  WAKE_OF_NO_CONSUMER,
  FOREIGN_WORKFLOW,
  ...SESSION_INVARIANTS,
].map((sql) => `${sql} LIMIT ${SHOWN_PER_INVARIANT}`)

/**
 * What indexes and CHECKs also keep is asked again here, because a file may come from elsewhere (a restored backup, a
 * repaired one) and because the answer is shown to a person as the proof.
 */
export function checkInvariants(database: Database): string[] {
  return INVARIANTS.flatMap((sql) => database.all(sql)).map((row) => text(row, 'breach'))
}
