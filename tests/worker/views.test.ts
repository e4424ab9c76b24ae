import type { Store } from '#engine/ports/store.ts'
import type { ViewsApi, WorkflowView } from '#worker/api.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { createViews } from '#worker/views.ts'
import { encodeTime } from 'ulid'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  buildEscalation,
  buildHandlerRun,
  buildMutation,
  buildPublication,
  buildScript,
  buildScriptRun,
  buildWorkflow,
  insertActiveRun,
  insertWorkflow,
} from '../support/build-rows.ts'
import { openTestStore } from '../support/open-test-store.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const idAt = (prefix: string, at: number, n = 0): string =>
  `${prefix}_${encodeTime(at, 10)}${String(n).padStart(16, '0')}`

let store: Store
let views: ViewsApi
let installation: Database

beforeEach(async () => {
  const opened = await openTestStore()
  const { database } = opened
  store = opened.store
  installation = database
  const listWorkflows = (): WorkflowView[] =>
    store.workflows.list().map(({ id, name, status, block, activeVersion, permissions, createdAt, updatedAt }) => ({
      id,
      name,
      status,
      block,
      permissions,
      state: 'idle',
      version: activeVersion,
      nextWakeAt: null,
      retryAt: null,
      pendingEvents: 0,
      createdAt,
      updatedAt,
    }))
  const viewWorkflow = (id: string) => listWorkflows().find((view) => view.id === id)
  views = createViews({ database, store, listWorkflows, viewWorkflow, now: () => NOON })
})

const value = async <T>(
  answer: Promise<{ ok: true; value: T } | { ok: false; error: { message: string } }>,
): Promise<T> => {
  const result = await answer
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

describe('the list of runs', () => {
  const insertRuns = (count: number): void => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      for (let n = 0; n < count; n += 1) {
        const at = NOON + n * 60_000
        const result = n % 10 === 3 ? 'failed' : 'completed'
        const error = result === 'failed' ? `row 100% full at ${n}` : null
        tx.scriptRuns.insert(
          buildScriptRun({ id: idAt('run', at, n), result, error, startTimestamp: at, endTimestamp: at + 5 }),
        )
      }
    })
  }

  it('is walked page by page, newest first, and every run comes exactly once', async () => {
    insertRuns(25)
    const seen: string[] = []
    for (let before: string | undefined; ;) {
      const page = await value(views.listRuns({ limit: 10, ...(before !== undefined && { before }) }))
      seen.push(...page.rows.map(({ id }) => id))
      if (!page.hasMore) break
      before = page.rows.at(-1)?.id
    }
    expect(seen).toHaveLength(25)
    expect(seen).toEqual([...new Set(seen)].sort().reverse())
  })

  it('is narrowed by result, text, time, trigger and workflow', async () => {
    insertRuns(25)
    const count = async (query: Parameters<ViewsApi['listRuns']>[0]) => (await value(views.listRuns(query))).rows.length
    expect(await count({ result: 'failed' })).toBe(3)
    expect(await count({ result: 'open' })).toBe(0)
    expect(await count({ text: '100% full at 1' })).toBe(1)
    expect(await count({ text: '100_' })).toBe(0)
    expect(await count({ from: NOON + 5 * 60_000, to: NOON + 8 * 60_000 })).toBe(3)
    expect(await count({ trigger: 'schedule' })).toBe(0)
    expect(await count({ workflowId: 'wf_other' })).toBe(0)
    expect(await count({ workflowId: 'wf_1', trigger: 'manual', result: 'completed' })).toBe(22)
  })

  it('finds the runs that a handler had a part in, and tells the open question of a run', async () => {
    store.transaction((tx) => {
      insertActiveRun(tx, { status: 'failed:logic', error: 'no', errorType: 'logic', endTimestamp: 5 })
      tx.escalations.insert(buildEscalation())
    })
    expect((await value(views.listRuns({ handler: 'digest' }))).rows).toEqual([])
    const { rows } = await value(views.listRuns({ handler: 'process' }))
    expect(rows).toMatchObject([
      { id: 'run_1', workflowName: 'Inbox triage', version: 1, question: { id: 'esc_1', actions: ['retry', 'skip'] } },
    ])
  })
})

describe('a run', () => {
  it('is outlined by its attempts, with the title that the script gave, and nothing that is not shown', async () => {
    store.transaction((tx) => {
      insertActiveRun(tx, {
        phase: 'prepared',
        prepareResult: '{"reservations":[],"data":{"big":"x"},"ui":{"title":"Add row"}}',
        phaseTimes: '[["pending",1],["preparing",2],["prepared",3]]',
      })
    })
    const outline = await value(views.getRunOutline('run_1'))
    expect(outline.attempts).toEqual([
      {
        id: 'hr_1',
        handlerType: 'consumer',
        handlerName: 'process',
        phase: 'prepared',
        status: 'active',
        retryOf: null,
        attempt: 1,
        retryAt: null,
        title: 'Add row',
        error: null,
        errorType: null,
        phaseTimes: '[["pending",1],["preparing",2],["prepared",3]]',
        startTimestamp: 1_700_000_000_000,
        endTimestamp: null,
      },
    ])
  })

  it('that is not there is said to be missing', async () => {
    expect(await views.getRunOutline('run_9')).toMatchObject({ ok: false, error: { code: 'not_found' } })
    expect(await views.getAttempt('hr_9')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })
})

describe('an attempt', () => {
  it('comes with its mutation, its own logs, its events, and the source around the line that failed', async () => {
    const source = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join('\n')
    const attempt = {
      ...buildHandlerRun(),
      id: idAt('hr', NOON),
      phase: 'mutating' as const,
      status: 'failed:logic' as const,
      prepareResult: '{"reservations":[{"topic":"mail","ids":["m1"]}]}',
      error: 'x is not a function',
      errorType: 'logic' as const,
      errorLine: 10,
      startTimestamp: NOON,
      endTimestamp: NOON + 50,
    }
    store.transaction((tx) => {
      tx.workflows.insert(buildWorkflow())
      tx.scripts.insert(buildScript({ source }))
      tx.topics.ensure('wf_1', ['mail', 'row'], 1)
      tx.scriptRuns.insert(buildScriptRun())
      tx.handlerRuns.insert(attempt)
      tx.mutations.insert(buildMutation({ handlerRunId: attempt.id }))
      tx.events.publish(buildPublication({ id: idAt('evt', NOON - 1) }))
      tx.events.publish(
        buildPublication({ id: idAt('evt', NOON + 40), topic: 'row', messageId: 'r1', createdByRunId: attempt.id }),
      )
      tx.logs.append(attempt, [{ at: 1, phase: 'preparing', level: 'info', message: 'mine', data: null }])
      tx.logs.append({ ...attempt, id: 'hr_other' }, [
        { at: 1, phase: 'preparing', level: 'info', message: 'not mine', data: null },
      ])
    })
    const detail = await value(views.getAttempt(attempt.id))
    expect(detail.excerpt).toEqual({ version: 1, firstLine: 6, lines: source.split('\n').slice(5, 14) })
    expect(detail.logs.map(({ message }) => message)).toEqual(['mine'])
    expect(detail.mutation?.toolMethod).toBe('post')
    expect(detail.reserved.map(({ messageId }) => messageId)).toEqual(['m1'])
    expect(detail.published.map(({ messageId }) => messageId)).toEqual(['r1'])
  })
})

describe('the list of events', () => {
  it('is walked page by page and narrowed by topic, status and text', async () => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      for (let n = 0; n < 12; n += 1) {
        const topic = n % 3 === 0 ? 'row' : 'mail'
        tx.events.publish(buildPublication({ id: idAt('evt', NOON, n), topic, messageId: `m${n}`, title: `Mail ${n}` }))
      }
      tx.events.skipPending([idAt('evt', NOON, 1)])
    })
    const workflowId = 'wf_1'
    const first = await value(views.listEvents({ workflowId, limit: 5 }))
    expect(first.rows.map(({ messageId }) => messageId)).toEqual(['m11', 'm10', 'm9', 'm8', 'm7'])
    expect(first.hasMore).toBe(true)
    const mails = await value(views.listEvents({ workflowId, topic: 'mail' }))
    expect(mails.rows).toHaveLength(8)
    expect((await value(views.listEvents({ workflowId, topic: 'mail', status: 'pending' }))).rows).toHaveLength(7)
    expect((await value(views.listEvents({ workflowId, status: 'skipped' }))).rows).toHaveLength(1)
    expect((await value(views.listEvents({ workflowId, text: 'mail 1' }))).rows).toHaveLength(3)
    expect((await value(views.listEvents({ workflowId: 'wf_2' }))).rows).toEqual([])
  })
})

describe('a search in a long list', () => {
  const EVENTS = 10_000
  const WANTED = ['m7', 'm5001', 'm9999']

  /** Every tenth still waits; those that are wanted say so. */
  const EVENTS_SQL = `WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < ${EVENTS})
       INSERT INTO events (id, topic_id, workflow_id, message_id, title, payload, status, caused_by, created_at)
       SELECT '${idAt('evt', NOON).slice(0, -16)}' || printf('%016d', n), (SELECT id FROM topics WHERE name = iif(n % 3, 'mail', 'row')),
         'wf_1', 'm' || n, iif(n IN (7, 5001, 9999), 'Wanted', 'Other'), '{}', iif(n % 10, 'consumed', 'pending'), '[]', 0 FROM c`

  const fill = (): void => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      tx.events.publish(buildPublication({ id: idAt('evt', NOON - 1), topic: 'mail', messageId: 'first' }))
      tx.events.publish(buildPublication({ id: idAt('evt', NOON - 1, 1), topic: 'row', messageId: 'second' }))
      installation.run(EVENTS_SQL)
    })
  }
  it('answers piece by piece, so that nothing waits for all of it, and finds everything exactly once', async () => {
    fill()
    const pieces: string[][] = []
    for (let before: string | undefined; ;) {
      const query = { workflowId: 'wf_1', text: 'wanted', ...(before !== undefined && { before }) }
      const { rows, hasMore, lookedTo } = await value(views.listEvents(query))
      pieces.push(rows.map(({ messageId }) => messageId))
      if (!hasMore) break
      expect(lookedTo).toMatch(/^evt_/)
      before = lookedTo
    }
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.flat()).toEqual(WANTED.toReversed())
  })

  it('is a page like any other where enough is found at once', async () => {
    fill()
    const page = await value(views.listEvents({ workflowId: 'wf_1', text: 'other', limit: 10 }))
    expect(page.rows).toHaveLength(10)
    expect(page).toMatchObject({ hasMore: true })
    expect(page.lookedTo).toBeUndefined()
  })

  it('looks through runs piece by piece too', async () => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      installation.run(
        `WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < ${EVENTS})
       INSERT INTO script_runs (id, workflow_id, script_id, "trigger", result, cost, handler_run_count, start_timestamp, end_timestamp)
       SELECT '${idAt('run', NOON).slice(0, -16)}' || printf('%016d', n), 'wf_1', (SELECT id FROM scripts), 'manual',
         iif(n = 3, 'failed', 'completed'), 0, 0, 0, 1 FROM c`,
      )
    })
    const found: string[] = []
    let pieces = 0
    for (let before: string | undefined; ; pieces += 1) {
      const page = await value(views.listRuns({ result: 'failed', ...(before !== undefined && { before }) }))
      found.push(...page.rows.map(({ id }) => id))
      if (!page.hasMore) break
      before = page.lookedTo
    }
    expect(pieces).toBeGreaterThanOrEqual(2)
    expect(found).toEqual([idAt('run', NOON, 3)])
  })
})

describe('a workflow', () => {
  it('shows its handlers with their last attempt, its topics with what waits, and its open questions', async () => {
    store.transaction((tx) => {
      insertActiveRun(tx)
      tx.events.publish(buildPublication())
      tx.producerSchedules.put(
        {
          workflowId: 'wf_1',
          producerName: 'poll',
          scheduleType: 'interval',
          scheduleValue: '5m',
          timezone: null,
          nextRunAt: NOON,
          lastRunAt: null,
        },
        1,
      )
    })
    const detail = await value(views.getWorkflow('wf_1'))
    expect(detail.schedules).toMatchObject([{ producerName: 'poll', value: '5m', nextRunAt: NOON }])
    expect(detail.lastRun).toMatchObject({ id: 'run_1', result: null })
    expect(detail.topics).toMatchObject([
      { name: 'mail', pending: 1, reserved: 0, oldestPendingAt: 1_700_000_000_000 },
      { name: 'row', pending: 0, oldestPendingAt: null },
    ])
    expect(detail.handlers.map(({ name, lastAttempt }) => [name, lastAttempt?.id])).toEqual([
      ['poll', undefined],
      ['process', 'hr_1'],
      ['digest', undefined],
    ])
    expect(await views.getWorkflow('wf_2')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  it('keeps every version of its script, and knows which one runs', async () => {
    store.transaction((tx) => {
      insertWorkflow(tx)
      tx.scripts.insert(buildScript({ id: 'scr_2', version: 2, source: 'second' }))
    })
    const versions = await value(views.listVersions('wf_1'))
    expect(versions.map(({ version, isActive }) => [version, isActive])).toEqual([
      [2, false],
      [1, true],
    ])
    expect(await value(views.getScript('scr_2'))).toMatchObject({ source: 'second', version: 2, isActive: false })
  })
})

describe('the inbox', () => {
  it('puts the evidence beside each question', async () => {
    store.transaction((tx) => {
      insertActiveRun(tx, {
        phase: 'mutating',
        status: 'paused:reconciliation',
        prepareResult: '{}',
        endTimestamp: 5,
      })
      tx.mutations.insert(buildMutation({ status: 'indeterminate' }))
      tx.escalations.insert(buildEscalation({ kind: 'indeterminate_mutation', mutationId: 'mut_1' }))
    })
    const { rows, hasMore } = await value(views.listInbox({ open: true }))
    expect(hasMore).toBe(false)
    expect(rows).toMatchObject([
      {
        id: 'esc_1',
        workflowName: 'Inbox triage',
        handlerName: 'process',
        mutation: { params: expect.any(String) as string },
      },
    ])
    expect((await value(views.listInbox({ open: false }))).rows).toEqual([])
  })
})

describe('the dashboard', () => {
  it('counts what ended in each stretch of time, and leaves out what is older', async () => {
    const attempt = (n: number, at: number, status: 'committed' | 'failed:logic') =>
      buildHandlerRun({
        id: idAt('hr', at, n),
        handlerType: 'producer',
        handlerName: 'poll',
        phase: status === 'committed' ? 'committed' : 'executing',
        status,
        error: status === 'committed' ? null : 'no',
        startTimestamp: at,
        endTimestamp: at + 1,
      })
    store.transaction((tx) => {
      insertWorkflow(tx)
      tx.scriptRuns.insert(buildScriptRun({ handlerRunCount: 4 }))
      tx.handlerRuns.insert(attempt(1, NOON - 30_000, 'committed'))
      tx.handlerRuns.insert(attempt(2, NOON - 20_000, 'failed:logic'))
      tx.handlerRuns.insert(attempt(3, NOON - 90_000, 'committed'))
      tx.handlerRuns.insert(attempt(4, NOON - 3_600_000, 'committed'))
    })
    const { buckets, openRuns, recentRuns } = await value(views.getDashboard({ sinceMs: 600_000, buckets: 10 }))
    expect(buckets).toHaveLength(10)
    expect(buckets.slice(-3)).toEqual([
      { at: NOON - 120_000, committed: 1, failed: 0 },
      { at: NOON - 60_000, committed: 1, failed: 1 },
      { at: NOON, committed: 0, failed: 0 },
    ])
    expect(openRuns).toBe(1)
    expect(recentRuns).toHaveLength(1)
  })
})
