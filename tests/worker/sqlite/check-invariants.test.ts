import { beforeEach, describe, expect, test } from 'vitest'
import type { HandlerRun, RunStatus } from '#engine/model/handler-run.ts'
import type { StoreWrites } from '#engine/ports/store.ts'
import {
  buildEscalation,
  buildHandlerRun,
  buildMutation,
  buildPublication,
  buildScriptRun,
  insertWorkflow,
} from '../../support/build-rows.ts'
import { openTestStore, type TestStore } from '../../support/open-test-store.ts'

let opened: TestStore
beforeEach(async () => {
  opened = await openTestStore()
})

const breaches = () => opened.store.checkInvariants()
const write = (work: (tx: StoreWrites) => void) => opened.store.transaction(work)
/** By hand, past every rule of the tables: what a damaged or doctored file may hold. */
const tamper = (sql: string) =>
  opened.database.script(`
    PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
    ${sql};
    PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF`)

const pastBoundary: Partial<HandlerRun> = { phase: 'emitting', prepareResult: '{}', mutationOutcome: 'none' }
const committed: Partial<HandlerRun> = { ...pastBoundary, phase: 'committed', status: 'committed', endTimestamp: 2 }
const failed: Partial<HandlerRun> = { status: 'failed:logic', endTimestamp: 2, error: 'x', errorType: 'logic' }

/** An open run with these handler runs, counted. */
function insertRuns(...runs: Partial<HandlerRun>[]): void {
  write((tx) => {
    insertWorkflow(tx)
    const cost = runs.reduce((sum, run) => sum + (run.cost ?? 0), 0)
    tx.scriptRuns.insert(buildScriptRun({ handlerRunCount: runs.length, cost }))
    for (const run of runs) tx.handlerRuns.insert(buildHandlerRun(run))
  })
}

function reserveFor(runId: string): void {
  write((tx) => {
    tx.events.publish(buildPublication())
    tx.events.reserve(['evt_1'], runId)
  })
}

describe('all is well', () => {
  test('in an empty database', () => {
    expect(breaches()).toEqual([])
  })

  test('in one where every kind of row is in use', () => {
    const retried: Partial<HandlerRun> = { ...failed, status: 'paused:transient', errorType: 'network', cost: 3 }
    insertRuns(
      { ...committed, id: 'hr_1', cost: 5 },
      { ...retried, id: 'hr_2' },
      { ...pastBoundary, ...failed, id: 'hr_3', retryOf: 'hr_2', attempt: 2, mutationOutcome: 'applied' },
    )
    reserveFor('hr_3')
    write((tx) => {
      tx.mutations.insert(buildMutation({ handlerRunId: 'hr_2', status: 'failed' }))
      tx.mutations.insert(buildMutation({ id: 'mut_2', handlerRunId: 'hr_3', status: 'applied' }))
      tx.escalations.insert(buildEscalation({ handlerRunId: 'hr_3' }))
      tx.escalations.insert(buildEscalation({ id: 'esc_2', handlerRunId: 'hr_2', resolution: 'retry', resolvedAt: 2 }))
      tx.workflows.setBlock('wf_1', { runId: 'hr_3', kind: 'logic_failure', message: 'x' }, 2)
      tx.handlerStates.setWakeAt('wf_1', 'process', 500, 1)
      tx.handlerStates.setState('wf_1', 'poll', '{}', 1)
    })
    expect(breaches()).toEqual([])
  })
})

describe('an event is reserved only by a run that is active or awaits its retry or its resolution:', () => {
  const prepared: Partial<HandlerRun> = { phase: 'prepared', prepareResult: '{}' }
  const stopped = (status: RunStatus): Partial<HandlerRun> => ({ status, endTimestamp: 2 })
  const rightful: [string, Partial<HandlerRun>][] = [
    ['active', prepared],
    ['awaiting resolution', { ...prepared, phase: 'mutating', ...stopped('paused:reconciliation') }],
    ['failed past the boundary', { ...pastBoundary, ...stopped('failed:logic') }],
    ['waiting past the boundary', { ...pastBoundary, ...stopped('paused:transient') }],
    ['crashed past the boundary', { ...pastBoundary, phase: 'mutated', ...stopped('crashed') }],
  ]
  test.each(rightful)('%s may', (_, run) => {
    insertRuns(run)
    reserveFor('hr_1')
    expect(breaches()).toEqual([])
  })

  const wrongful: [string, Partial<HandlerRun>][] = [
    ['failed before the boundary', { ...prepared, ...stopped('failed:logic') }],
    ['crashed before the boundary', { ...prepared, phase: 'mutating', ...stopped('crashed') }],
    ['cancelled', { ...pastBoundary, ...stopped('cancelled') }],
  ]
  test.each(wrongful)('%s may not', (_, run) => {
    insertRuns(run)
    reserveFor('hr_1')
    expect(breaches()).toEqual([
      `Event evt_1 is reserved by run hr_1, which is ${run.status} in phase ${run.phase} and neither active nor awaiting retry.`,
    ])
  })

  test('superseded by a retry may not', () => {
    insertRuns({ ...pastBoundary, ...failed }, { ...pastBoundary, id: 'hr_2', retryOf: 'hr_1', attempt: 2 })
    reserveFor('hr_1')
    expect(breaches()).toEqual([
      'Event evt_1 is reserved by run hr_1, which is failed:logic in phase emitting and neither active nor awaiting retry.',
    ])
  })

  test('committed may not', () => {
    insertRuns(committed)
    reserveFor('hr_1')
    expect(breaches()).toEqual(['Run hr_1 is committed, but event evt_1 is still reserved by it.'])
  })

  test('gone may not', () => {
    insertRuns({})
    reserveFor('hr_1')
    tamper(`UPDATE events SET reserved_by_run_id = 'hr_gone'`)
    expect(breaches()).toEqual(['Event evt_1 is reserved by run hr_gone, which does not exist.'])
  })
})

describe('a breach is told in a sentence:', () => {
  test('two active handler runs in one workflow', () => {
    insertRuns({}, { ...failed, id: 'hr_2' })
    tamper(`DROP INDEX handler_runs_one_active;
      UPDATE handler_runs SET status = 'active', end_timestamp = NULL WHERE id = 'hr_2'`)
    expect(breaches()).toEqual(['Workflow wf_1 has 2 active handler runs at once: hr_1, hr_2.'])
  })

  test('two open runs of one workflow', () => {
    write((tx) => {
      insertWorkflow(tx)
      tx.scriptRuns.insert(buildScriptRun())
      tx.scriptRuns.insert(buildScriptRun({ id: 'run_2', result: 'completed', endTimestamp: 2 }))
    })
    tamper(`DROP INDEX script_runs_one_open; UPDATE script_runs SET result = NULL, end_timestamp = NULL`)
    expect(breaches()).toEqual(['Workflow wf_1 has 2 open runs at once: run_1, run_2.'])
  })

  test('an active handler run in a run that has ended', () => {
    insertRuns({})
    write((tx) => tx.scriptRuns.close('run_1', 'completed', null, 2))
    expect(breaches()).toEqual(['Handler run hr_1 is active, but its run run_1 has ended.'])
  })

  test('two mutations of one handler run', () => {
    insertRuns({ ...pastBoundary }, { ...failed, id: 'hr_2' })
    write((tx) => {
      tx.mutations.insert(buildMutation({ status: 'failed' }))
      tx.mutations.insert(buildMutation({ id: 'mut_2', handlerRunId: 'hr_2', status: 'applied' }))
    })
    // The index of a UNIQUE constraint cannot be dropped: the table is built anew without it.
    tamper(`CREATE TABLE copies AS SELECT * FROM mutations; DROP TABLE mutations; ALTER TABLE copies RENAME TO mutations;
      UPDATE mutations SET handler_run_id = 'hr_1'`)
    expect(breaches()).toEqual(['Handler run hr_1 has 2 mutations: mut_1, mut_2.'])
  })

  test('a mutation applied twice in one chain of retries, however far apart', () => {
    const applied: Partial<HandlerRun> = { ...pastBoundary, mutationOutcome: 'applied' }
    insertRuns(
      { ...applied, ...failed },
      { ...applied, ...failed, id: 'hr_2', retryOf: 'hr_1', attempt: 2 },
      { ...applied, id: 'hr_3', retryOf: 'hr_2', attempt: 3 },
    )
    write((tx) => {
      tx.mutations.insert(buildMutation({ status: 'applied' }))
      tx.mutations.insert(buildMutation({ id: 'mut_3', handlerRunId: 'hr_3', status: 'applied' }))
    })
    expect(breaches()).toEqual(['Mutations mut_1 and mut_3 were both applied in one chain of retries.'])
  })

  test('an attempt that was retried twice', () => {
    insertRuns(failed, { ...failed, id: 'hr_2', retryOf: 'hr_1', attempt: 2 }, { ...failed, id: 'hr_3' })
    tamper(
      `DROP INDEX handler_runs_one_retry; UPDATE handler_runs SET retry_of = 'hr_1', attempt = 2 WHERE id = 'hr_3'`,
    )
    expect(breaches()).toEqual(['Handler run hr_1 was retried 2 times: hr_2, hr_3.'])
  })

  test.each([{ attempt: 3 }, { handlerName: 'digest' }])('a retry out of step by %o', (changes) => {
    insertRuns(failed, { id: 'hr_2', retryOf: 'hr_1', attempt: 2, ...changes })
    expect(breaches()).toEqual([
      'Handler run hr_2 retries hr_1, but is not the next attempt of the same handler in the same run.',
    ])
  })

  test('a retry still due of an attempt that was retried', () => {
    insertRuns({ ...failed, retryAt: 5 }, { id: 'hr_2', retryOf: 'hr_1', attempt: 2 })
    expect(breaches()).toEqual(['Handler run hr_1 still waits for a retry, but was retried by hr_2.'])
  })

  test('a run that miscounts its handler runs', () => {
    insertRuns({})
    write((tx) => tx.scriptRuns.countHandlerRun('run_1'))
    expect(breaches()).toEqual(['Run run_1 counts 2 handler runs at a cost of 0, but its rows say 1 and 0.'])
  })

  test('a run that miscounts its cost', () => {
    insertRuns({ cost: 7 }, { ...failed, id: 'hr_2', cost: 2 })
    write((tx) => tx.scriptRuns.addCost('run_1', 1))
    expect(breaches()).toEqual(['Run run_1 counts 2 handler runs at a cost of 10, but its rows say 2 and 9.'])
  })

  test('a run without handler runs that counts some', () => {
    insertRuns()
    write((tx) => tx.scriptRuns.countHandlerRun('run_1'))
    expect(breaches()).toEqual(['Run run_1 counts 1 handler runs at a cost of 0, but its rows say 0 and 0.'])
  })

  test('a block that nobody can settle', () => {
    insertRuns(failed)
    write((tx) => {
      tx.escalations.insert(buildEscalation({ resolution: 'retry', resolvedAt: 2 }))
      tx.workflows.setBlock('wf_1', { runId: 'hr_1', kind: 'logic_failure', message: 'x' }, 2)
    })
    expect(breaches()).toEqual(['Workflow wf_1 is blocked by run hr_1, which has no open escalation.'])
  })

  test('an open escalation that blocks nothing', () => {
    insertRuns(failed)
    write((tx) => tx.escalations.insert(buildEscalation()))
    expect(breaches()).toEqual(['Escalation esc_1 of run hr_1 is open, but does not block workflow wf_1.'])
  })

  test.each(['poll', 'removed'])('a wake time of %s, which is no consumer', (handlerName) => {
    write((tx) => {
      insertWorkflow(tx)
      tx.handlerStates.setWakeAt('wf_1', handlerName, 5, 1)
    })
    expect(breaches()).toEqual([`Handler ${handlerName} of workflow wf_1 has a wake time, but is no consumer of it.`])
  })

  test('a handler run in the run of another workflow', () => {
    insertRuns(failed)
    write((tx) => insertWorkflow(tx, 'wf_2'))
    tamper(`UPDATE handler_runs SET workflow_id = 'wf_2'`)
    expect(breaches()).toEqual(['Handler run hr_1 says workflow wf_2, but its run run_1 belongs to wf_1.'])
  })
})

test('several breaches are told together, and a flood of one kind is cut', () => {
  insertRuns(committed)
  write((tx) => {
    for (let i = 100; i < 200; i++) tx.events.publish(buildPublication({ id: `evt_${i}`, messageId: `m${i}` }))
    tx.events.reserve(
      tx.events.peek('wf_1', 'mail', 100).map(({ id }) => id),
      'hr_1',
    )
    tx.scriptRuns.addCost('run_1', 1)
  })
  expect(breaches()).toHaveLength(21)
  expect(breaches().at(-1)).toMatch(/cost of 1/)
})
