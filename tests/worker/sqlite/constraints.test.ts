import { beforeEach, describe, expect, test } from 'vitest'
import { archiveKinds } from '#engine/model/archive.ts'
import { failureTypes } from '#engine/model/errors.ts'
import { escalationActions, escalationKinds } from '#engine/model/escalation.ts'
import { eventStatuses } from '#engine/model/event.ts'
import {
  consumerPhases,
  handlerTypes,
  mutationOutcomes,
  producerPhases,
  runStatuses,
} from '#engine/model/handler-run.ts'
import { logLevels } from '#engine/model/log.ts'
import { mutationResolvers, mutationStatuses } from '#engine/model/mutation.ts'
import { runResults, runTriggers } from '#engine/model/script-run.ts'
import {
  agentStates,
  failurePolicies,
  sessionEventTypes,
  sessionStates,
  sessionStrategies,
} from '#engine/model/session.ts'
import { workflowStatuses } from '#engine/model/workflow.ts'
import type { Database, SqlValue } from '#worker/sqlite/database.ts'
import { buildHandlerRun, buildMutation, buildSession, insertActiveRun } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

type Values = Record<string, SqlValue>

let database: Database
beforeEach(async () => {
  const opened = await openTestStore()
  database = opened.database
  opened.store.transaction((tx) => {
    insertActiveRun(tx)
    tx.scriptRuns.close('run_1', 'completed', null, 2)
    tx.handlerRuns.update('hr_1', { status: 'crashed', endTimestamp: 2 })
    tx.handlerRuns.insert(buildHandlerRun({ id: 'hr_2', status: 'crashed', endTimestamp: 2 }))
    tx.mutations.insert(buildMutation({ handlerRunId: 'hr_2' }))
    tx.sessions.insert(buildSession())
  })
})

/** A valid row of each table, beside those that are there already. */
const validRows: Record<string, Values> = {
  workflows: {
    id: 'wf_9',
    name: 'Another',
    status: 'active',
    block_run_id: null,
    block_kind: null,
    block_message: null,
    active_script_id: null,
    active_version: 0,
    handler_config: '{}',
    permissions: '[]',
    timezone: null,
    budget: 100,
    created_at: 1,
    updated_at: 1,
    session_id: null,
    retry_policy: null,
    retention_days: null,
  },
  scripts: { id: 'scr_9', workflow_id: 'wf_1', version: 9, source: '', config: '{}', created_at: 1 },
  topics: { workflow_id: 'wf_1', name: 'another', created_at: 1 },
  events: {
    id: 'evt_9',
    topic_id: 1,
    workflow_id: 'wf_1',
    message_id: 'm9',
    title: null,
    payload: '{}',
    status: 'pending',
    reserved_by_run_id: null,
    created_by_run_id: null,
    caused_by: '[]',
    created_at: 1,
  },
  script_runs: {
    id: 'run_9',
    workflow_id: 'wf_1',
    script_id: 'scr_1',
    trigger: 'manual',
    result: null,
    error: null,
    cost: 0,
    handler_run_count: 0,
    start_timestamp: 1,
    end_timestamp: null,
  },
  handler_runs: {
    id: 'hr_9',
    script_run_id: 'run_1',
    workflow_id: 'wf_1',
    script_id: 'scr_1',
    handler_type: 'consumer',
    handler_name: 'process',
    phase: 'preparing',
    status: 'failed:logic',
    retry_of: null,
    attempt: 1,
    retries_used: 0,
    retry_at: null,
    prepare_result: null,
    mutation_outcome: null,
    mutation_result: null,
    input_state: null,
    output_state: null,
    error: 'boom',
    error_type: 'logic',
    error_line: null,
    error_column: null,
    cost: 0,
    phase_times: '[]',
    start_timestamp: 1,
    end_timestamp: 2,
  },
  mutations: {
    id: 'mut_9',
    handler_run_id: 'hr_1',
    workflow_id: 'wf_1',
    tool_namespace: 'http',
    tool_method: 'post',
    params: '{}',
    idempotency_key: 'key',
    status: 'applied',
    result: null,
    error: null,
    resolved_by: null,
    resolved_at: null,
    created_at: 1,
    updated_at: 1,
  },
  handler_state: { workflow_id: 'wf_1', handler_name: 'process', state: null, wake_at: null, updated_at: 1 },
  producer_schedules: {
    workflow_id: 'wf_1',
    producer_name: 'poll',
    schedule_type: 'interval',
    schedule_value: '5m',
    timezone: null,
    next_run_at: 1,
    last_run_at: null,
    created_at: 1,
    updated_at: 1,
  },
  escalations: {
    id: 'esc_9',
    workflow_id: 'wf_1',
    script_run_id: 'run_1',
    handler_run_id: 'hr_1',
    mutation_id: null,
    kind: 'logic_failure',
    message: 'boom',
    details: '{}',
    actions: '[]',
    resolution: null,
    resolution_value: null,
    created_at: 1,
    resolved_at: null,
  },
  logs: {
    script_run_id: 'run_1',
    handler_run_id: 'hr_1',
    workflow_id: 'wf_1',
    phase: 'preparing',
    level: 'info',
    message: '',
    data: null,
    logged_at: 1,
  },
  settings: { key: 'x', value: '1', updated_at: 1 },
  sessions: {
    id: 'sess_9',
    objective: 'Get it done',
    strategy: 'adaptive',
    state: 'running',
    on_failure: 'stop',
    max_parallel: null,
    agent_count: 1,
    completed_agents: 0,
    failed_agents: 0,
    metadata: '{}',
    error_message: null,
    created_at: 1,
    started_at: 1,
    completed_at: null,
    restored_at: null,
  },
  session_agents: {
    session_id: 'sess_1',
    agent_id: 'agent_writer_1_9',
    key: 'writer',
    role: 'writer',
    instance: 1,
    position: 0,
    task: 'Write',
    task_type: 'text',
    state: 'running',
    dependencies: '[]',
    stage: null,
    workflow_id: null,
    run_id: null,
    exit_code: null,
    output: null,
    error_message: null,
    created_at: 1,
    started_at: 1,
    completed_at: null,
  },
  session_events: { session_id: 'sess_1', timestamp: 1, event_type: 'agent_started', agent_id: null, data: '{}' },
  session_context: { session_id: 'sess_1', key: 'notes', value: '[]', updated_by: 'agent_writer_1_9', updated_at: 1 },
  session_messages: {
    session_id: 'sess_1',
    from_agent_id: 'agent_a',
    to_agent_id: 'agent_b',
    to_role: null,
    body: '{}',
    sent_at: 1,
    seen_by_run_id: null,
    read_at: null,
  },
  archives: {
    id: 'arc_9',
    kind: 'session',
    subject_id: 'sess_9',
    title: 'Get it done',
    finished_at: 1,
    archived_at: 2,
    is_put_away: 1,
    json_bytes: 10,
    document: new Uint8Array([1]),
    restored_at: null,
  },
}

/** Inserts a valid row with these changes and takes it back; what remains is the answer. */
function tryInsert(table: string, changes: Values = {}): string {
  const row = { ...validRows[table], ...changes }
  const columns = Object.keys(row)
  const sql = `INSERT INTO ${table} (${columns.map((column) => `"${column}"`).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')})`
  let answer = 'accepted'
  try {
    database.transaction(() => {
      database.run(sql, Object.values(row))
      throw new Error('accepted')
    })
  } catch (error) {
    answer = error instanceof Error ? error.message : String(error)
  }
  return answer
}

describe('the tables', () => {
  test('all have a valid row to start from, with every column named', () => {
    const tables = database
      .all(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .map(({ name }) => String(name))
    expect(Object.keys(validRows).sort()).toEqual(tables.sort())
    for (const table of tables) {
      const columns = database.all(`SELECT name, type, pk FROM pragma_table_info('${table}')`)
      const named = columns.filter(({ type, pk }) => !(type === 'INTEGER' && pk === 1)).map(({ name }) => name)
      expect([table, Object.keys(validRows[table] ?? {})]).toEqual([table, named])
      expect([table, tryInsert(table)]).toEqual([table, 'accepted'])
    }
  })
})

/** What else must hold for a row to carry this member. */
type Companions = (member: string) => Values

const past = { prepare_result: '{}', mutation_outcome: 'none' }
const phaseCompanions: Record<string, Values> = {
  prepared: { prepare_result: '{}' },
  mutating: { prepare_result: '{}' },
  mutated: past,
  emitting: past,
  committed: { prepare_result: '{}', status: 'committed' },
}
const statusCompanions: Record<string, Values> = {
  active: { end_timestamp: null },
  committed: { phase: 'committed', prepare_result: '{}' },
}

const finished: Values = { completed_at: 2 }
const sessionCompanions: Record<string, Values> = { completed: finished, failed: finished, cancelled: finished }
const agentCompanions: Record<string, Values> = {
  completed: { ...finished, exit_code: 0 },
  failed: { ...finished, exit_code: 1 },
  cancelled: finished,
  skipped: finished,
}

const unions: [table: string, column: string, members: readonly string[], companions?: Companions][] = [
  ['workflows', 'status', workflowStatuses],
  ['workflows', 'block_kind', escalationKinds, () => ({ block_run_id: 'hr_1', block_message: 'x' })],
  ['script_runs', 'trigger', runTriggers],
  ['script_runs', 'result', runResults, () => ({ end_timestamp: 2 })],
  ['handler_runs', 'handler_type', handlerTypes, () => ({ phase: 'pending' })],
  ['handler_runs', 'phase', consumerPhases, (phase) => phaseCompanions[phase] ?? {}],
  [
    'handler_runs',
    'phase',
    producerPhases,
    (phase) => ({ handler_type: 'producer', status: phase === 'committed' ? phase : 'crashed' }),
  ],
  ['handler_runs', 'status', runStatuses, (status) => statusCompanions[status] ?? {}],
  ['handler_runs', 'mutation_outcome', mutationOutcomes, () => ({ phase: 'emitting', prepare_result: '{}' })],
  ['handler_runs', 'error_type', failureTypes],
  ['events', 'status', eventStatuses, (status) => ({ reserved_by_run_id: status === 'reserved' ? 'hr_1' : null })],
  ['mutations', 'status', mutationStatuses],
  ['mutations', 'resolved_by', mutationResolvers, () => ({ resolved_at: 1 })],
  ['producer_schedules', 'schedule_type', ['interval', 'cron']],
  ['escalations', 'kind', escalationKinds],
  ['escalations', 'resolution', escalationActions, () => ({ resolved_at: 1 })],
  ['sessions', 'strategy', sessionStrategies],
  ['sessions', 'state', sessionStates, (state) => sessionCompanions[state] ?? {}],
  ['sessions', 'on_failure', failurePolicies],
  ['session_agents', 'state', agentStates, (state) => agentCompanions[state] ?? {}],
  ['session_agents', 'task_type', ['text', 'json'], () => ({ task: '{}' })],
  ['session_events', 'event_type', sessionEventTypes],
  ['archives', 'kind', archiveKinds],
  ['logs', 'level', logLevels],
  ['logs', 'phase', [...producerPhases, ...consumerPhases]],
]

describe('the lists in the CHECKs are the unions of the model:', () => {
  test.each(unions)('%s.%s', (table, column, members, companions = () => ({})) => {
    for (const member of members) {
      expect([member, tryInsert(table, { ...companions(member), [column]: member })]).toEqual([member, 'accepted'])
    }
    for (const stranger of ['', 'unheard-of', members[0]?.toUpperCase() ?? '']) {
      expect(tryInsert(table, { ...companions(stranger), [column]: stranger })).toMatch(/^CHECK constraint failed/)
    }
  })

  test('a phase of the other handler type is refused', () => {
    const onlyProducer = producerPhases.filter((phase) => !consumerPhases.some((other) => other === phase))
    const onlyConsumer = consumerPhases.filter((phase) => !producerPhases.some((other) => other === phase))
    const refused = /phase_belongs_to_the_handler_type/
    for (const phase of onlyProducer) expect(tryInsert('handler_runs', { phase })).toMatch(refused)
    for (const phase of onlyConsumer) {
      expect(tryInsert('handler_runs', { handler_type: 'producer', phase })).toMatch(refused)
    }
  })
})

describe('a row that contradicts itself is refused:', () => {
  const contradictions: [rule: string, table: string, changes: Values][] = [
    ['block_is_whole_or_absent', 'workflows', { block_run_id: 'hr_1' }],
    ['block_is_whole_or_absent', 'workflows', { block_kind: 'auth', block_message: 'x' }],
    ['block_is_whole_or_absent', 'workflows', { block_run_id: 'hr_1', block_kind: 'auth' }],
    ['budget >= 1', 'workflows', { budget: 0 }],
    ['retry_policy_is_an_object', 'workflows', { retry_policy: 'often' }],
    ['retry_policy_is_an_object', 'workflows', { retry_policy: '[5]' }],
    ['retention_days BETWEEN 0 AND 36500', 'workflows', { retention_days: -1 }],
    ['retention_days BETWEEN 0 AND 36500', 'workflows', { retention_days: 36_501 }],
    ["name <> ''", 'workflows', { name: '' }],
    ['version >= 1', 'scripts', { version: 0 }],
    ['result_comes_with_the_end', 'script_runs', { result: 'completed' }],
    ['result_comes_with_the_end', 'script_runs', { end_timestamp: 2 }],
    ['error_comes_with_the_end', 'script_runs', { error: 'x' }],
    ['cost >= 0', 'script_runs', { cost: -1 }],
    ['handler_run_count >= 0', 'script_runs', { handler_run_count: -1 }],
    ['committed_is_phase_and_status', 'handler_runs', { phase: 'committed', prepare_result: '{}' }],
    ['committed_is_phase_and_status', 'handler_runs', { status: 'committed' }],
    ['only_active_has_no_end', 'handler_runs', { end_timestamp: null }],
    ['only_active_has_no_end', 'handler_runs', { status: 'active' }],
    ['first_attempt_retries_nothing', 'handler_runs', { attempt: 2 }],
    ['first_attempt_retries_nothing', 'handler_runs', { retry_of: 'hr_1' }],
    ['attempt >= 1', 'handler_runs', { attempt: 0, retry_of: 'hr_1' }],
    ['retries_used >= 0', 'handler_runs', { retries_used: -1 }],
    ['retry_follows_a_failure', 'handler_runs', { retry_at: 1, status: 'active', end_timestamp: null }],
    ['retry_follows_a_failure', 'handler_runs', { retry_at: 1, status: 'cancelled' }],
    ['retry_follows_a_failure', 'handler_runs', { retry_at: 1, ...phaseCompanions['committed'], phase: 'committed' }],
    ['prepare_result_comes_with_prepared', 'handler_runs', { prepare_result: '{}' }],
    ['prepare_result_comes_with_prepared', 'handler_runs', { phase: 'prepared' }],
    ['prepare_result_comes_with_prepared', 'handler_runs', { ...past, prepare_result: null, phase: 'emitting' }],
    ['outcome_is_known_past_the_boundary', 'handler_runs', { phase: 'mutated', prepare_result: '{}' }],
    ['outcome_is_known_past_the_boundary', 'handler_runs', { phase: 'emitting', prepare_result: '{}' }],
    ['outcome_is_unknown_before_the_boundary', 'handler_runs', { phase: 'mutating', ...past }],
    [
      'outcome_is_unknown_before_the_boundary',
      'handler_runs',
      { handler_type: 'producer', phase: 'executing', mutation_outcome: 'none' },
    ],
    ['mutation_result_is_of_an_applied_one', 'handler_runs', { phase: 'mutated', ...past, mutation_result: '{}' }],
    ['mutation_result_is_of_an_applied_one', 'handler_runs', { mutation_result: '{}' }],
    ['error_type_has_its_error', 'handler_runs', { error: null }],
    ['error_column_has_its_line', 'handler_runs', { error_column: 1 }],
    ['cost >= 0', 'handler_runs', { cost: -1 }],
    ['reserved_names_its_run', 'events', { status: 'reserved' }],
    ['reserved_names_its_run', 'events', { reserved_by_run_id: 'hr_1' }],
    ['reserved_names_its_run', 'events', { status: 'consumed', reserved_by_run_id: 'hr_1' }],
    ["message_id <> ''", 'events', { message_id: '' }],
    ['resolved_by_and_at_go_together', 'mutations', { resolved_by: 'user_skip' }],
    ['resolved_by_and_at_go_together', 'mutations', { resolved_at: 1 }],
    ['only_a_made_call_is_resolved', 'mutations', { status: 'in_flight', resolved_by: 'user_skip', resolved_at: 1 }],
    ['result_is_of_an_applied_one', 'mutations', { status: 'failed', result: '{}' }],
    ['resolution_and_time_go_together', 'escalations', { resolution: 'retry' }],
    ['resolution_and_time_go_together', 'escalations', { resolved_at: 1 }],
    ['value_comes_with_a_resolution', 'escalations', { resolution_value: '{}' }],
    ['a_finished_session_has_its_end', 'sessions', { state: 'completed' }],
    ['a_finished_session_has_its_end', 'sessions', { completed_at: 2 }],
    ['a_session_under_way_was_started', 'sessions', { started_at: null }],
    ['counters_fit', 'sessions', { completed_agents: 1, failed_agents: 1 }],
    ['only_a_finished_session_is_restored', 'sessions', { restored_at: 3 }],
    ['max_parallel >= 1', 'sessions', { max_parallel: 0 }],
    ['a_finished_agent_has_its_end', 'session_agents', { state: 'cancelled' }],
    ['a_finished_agent_has_its_end', 'session_agents', { completed_at: 2 }],
    ['exit_code_tells_the_end', 'session_agents', { exit_code: 0 }],
    ['exit_code_tells_the_end', 'session_agents', { state: 'completed', completed_at: 2, exit_code: 1 }],
    ['exit_code_tells_the_end', 'session_agents', { state: 'failed', completed_at: 2 }],
    ['an_agent_under_way_was_started', 'session_agents', { started_at: null }],
    ['stage >= 0', 'session_agents', { stage: -1 }],
    ['a_task_that_is_json_is_json', 'session_agents', { task_type: 'json' }],
    ['instance >= 1', 'session_agents', { instance: 0 }],
    ['json_bytes > 0', 'archives', { json_bytes: 0 }],
  ]
  test.each(contradictions)('%s in %s by %o', (rule, table, changes) => {
    expect(tryInsert(table, changes)).toBe(`CHECK constraint failed: ${rule}`)
  })
})

describe('a column that holds JSON takes nothing else:', () => {
  const jsonColumns: [table: string, column: string, companions?: Values][] = [
    ['workflows', 'handler_config'],
    ['workflows', 'permissions'],
    ['scripts', 'config'],
    ['handler_runs', 'prepare_result', { phase: 'prepared' }],
    ['handler_runs', 'mutation_result', { phase: 'mutated', prepare_result: '{}', mutation_outcome: 'applied' }],
    ['handler_runs', 'input_state'],
    ['handler_runs', 'output_state'],
    ['handler_runs', 'phase_times'],
    ['events', 'payload'],
    ['events', 'caused_by'],
    ['mutations', 'params'],
    ['mutations', 'result'],
    ['handler_state', 'state'],
    ['escalations', 'details'],
    ['escalations', 'actions'],
    ['escalations', 'resolution_value', { resolution: 'retry', resolved_at: 1 }],
    ['logs', 'data'],
    ['settings', 'value'],
    ['sessions', 'metadata'],
    ['session_agents', 'dependencies'],
    ['session_agents', 'output'],
    ['session_events', 'data'],
    ['session_context', 'value'],
    ['session_messages', 'body'],
  ]
  test.each(jsonColumns)('%s.%s', (table, column, companions = {}) => {
    expect(tryInsert(table, { ...companions, [column]: '{"half":' })).toMatch(/^CHECK constraint failed: json_valid/)
  })

  test.each([
    ['workflows', 'permissions'],
    ['events', 'caused_by'],
    ['handler_runs', 'phase_times'],
    ['escalations', 'actions'],
    ['session_agents', 'dependencies'],
  ])('%s.%s holds a list', (table, column) => {
    expect(tryInsert(table, { [column]: '{}' })).toMatch(/^CHECK constraint failed/)
  })
})

describe('a reference leads somewhere:', () => {
  const references: [table: string, changes: Values][] = [
    ['scripts', { workflow_id: 'wf_gone' }],
    ['topics', { workflow_id: 'wf_gone' }],
    ['events', { topic_id: 99 }],
    ['events', { status: 'reserved', reserved_by_run_id: 'hr_gone' }],
    ['script_runs', { workflow_id: 'wf_gone' }],
    ['handler_runs', { script_run_id: 'run_gone' }],
    ['handler_runs', { retry_of: 'hr_gone', attempt: 2 }],
    ['mutations', { handler_run_id: 'hr_gone' }],
    ['handler_state', { workflow_id: 'wf_gone' }],
    ['producer_schedules', { workflow_id: 'wf_gone' }],
    ['escalations', { handler_run_id: 'hr_gone' }],
    ['escalations', { mutation_id: 'mut_gone' }],
    ['logs', { script_run_id: 'run_gone' }],
    ['workflows', { session_id: 'sess_gone' }],
    ['session_agents', { session_id: 'sess_gone' }],
    ['session_agents', { workflow_id: 'wf_gone' }],
    ['session_events', { session_id: 'sess_gone' }],
    ['session_context', { session_id: 'sess_gone' }],
    ['session_messages', { session_id: 'sess_gone' }],
  ]
  test.each(references)('%s %o', (table, changes) => {
    expect(tryInsert(table, changes)).toMatch(/FOREIGN KEY constraint failed/)
  })

  test('a run that holds events cannot be deleted from under them', () => {
    database.transaction(() =>
      database.run(`INSERT INTO events (id, topic_id, workflow_id, message_id, payload, status, reserved_by_run_id, caused_by, created_at)
        VALUES ('evt_1', 1, 'wf_1', 'm1', '{}', 'reserved', 'hr_1', '[]', 1)`),
    )
    expect(() => database.transaction(() => database.run(`DELETE FROM script_runs WHERE id = 'run_1'`))).toThrow(
      /FOREIGN KEY/,
    )
  })
})

test('a line of the audit trail is never changed', () => {
  database.transaction(() =>
    database.run(
      `INSERT INTO session_events (session_id, timestamp, event_type, data) VALUES ('sess_1', 1, 'session_created', '{}')`,
    ),
  )
  expect(() => database.transaction(() => database.run(`UPDATE session_events SET timestamp = 2`))).toThrow(
    /append-only/,
  )
})

describe('a time is a whole number of milliseconds:', () => {
  test.each([1.5, '2024-01-01'])('%s is refused', (time) => {
    expect(tryInsert('events', { created_at: time })).toMatch(/cannot store \w+ value in INTEGER column/)
  })
})
