import { engineError } from '#engine/model/errors.ts'
import type { Escalation } from '#engine/model/escalation.ts'
import type { HandlerRun } from '#engine/model/handler-run.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { Workflow, WorkflowConfig } from '#engine/model/workflow.ts'
import type { StoreReads } from '#engine/ports/store.ts'
import { dailyUse, limitedBy } from '#engine/runtime/daily-limits.ts'
import { limitsOf } from '#engine/runtime/workflow-limits.ts'
import type { Database } from './sqlite/database.ts'
import { countOpenRuns, throughput } from './sqlite/views/dashboard-views.ts'
import { eventsPublishedBy, listEvents } from './sqlite/views/event-views.ts'
import { countOpen, listInboxIds } from './sqlite/views/inbox-views.ts'
import { pageLimit, toPage } from './sqlite/views/page.ts'
import { firstIdAt, getRunRow, listAttempts, listRuns } from './sqlite/views/run-views.ts'
import {
  lastRunsByWorkflow,
  listHandlers,
  listTopics,
  listVersions,
  schedulesByWorkflow,
} from './sqlite/views/workflow-views.ts'
import type {
  AttemptDetail,
  EventRow,
  InboxItem,
  SourceExcerpt,
  ViewsApi,
  WorkflowRow,
  WorkflowView,
} from './views-api.ts'

export interface ViewParts {
  database: Database
  store: StoreReads
  listWorkflows: () => WorkflowView[]
  viewWorkflow: (id: string) => WorkflowView | undefined
  now: () => number
}

const EXCERPT_LINES = 4
const HOUR_MS = 3_600_000
/** An event is written a little after the attempt that publishes it has ended, by the clock of its id. */
const PUBLISH_SLACK_MS = 60_000

/** What screens read, put together from the views. Reads only. */
export function createViews({ database, store, listWorkflows, viewWorkflow, now }: ViewParts): ViewsApi {
  const rowsOf = (views: readonly WorkflowView[]): WorkflowRow[] => {
    const schedules = schedulesByWorkflow(database)
    const lastRuns = lastRunsByWorkflow(database)
    return views.map((view) => ({
      ...view,
      schedules: schedules.get(view.id) ?? [],
      lastRun: lastRuns.get(view.id) ?? null,
    }))
  }

  const versionOf = (scriptId: string): number | null => store.scripts.get(scriptId)?.version ?? null

  const inboxItem = (escalation: Escalation): InboxItem => {
    const run = store.handlerRuns.get(escalation.handlerRunId)
    return {
      ...escalation,
      workflowName: nameOf(store, escalation.workflowId),
      version: run ? versionOf(run.scriptId) : null,
      handlerName: run?.handlerName ?? '',
      mutation: run ? (store.mutations.ofHandlerRun(run.id) ?? null) : null,
      excerpt: run ? excerptOf(store, run) : null,
    }
  }

  return {
    listWorkflowRows: () => answer(ok(rowsOf(listWorkflows()))),
    getWorkflow(id) {
      const workflow = store.workflows.get(id)
      const view = viewWorkflow(id)
      const [row] = view ? rowsOf([view]) : []
      if (!workflow || !row) return answer(missing('workflow', id))
      const config = configOf(workflow)
      return answer(
        ok({
          ...row,
          config,
          scriptId: workflow.activeScriptId,
          timezone: workflow.timezone,
          budget: workflow.budget,
          retryPolicy: workflow.retryPolicy,
          retentionDays: workflow.retentionDays,
          sessionId: workflow.sessionId,
          limits: limitsOf(store.settings, id),
          used: dailyUse(store, id, now()),
          limited: limitedBy(store, id, now()),
          topics: listTopics(database, id),
          handlers: listHandlers(database, id, handlersOf(config)),
          openEscalations: store.escalations.list({ workflowId: id, open: true }),
        }),
      )
    },
    listVersions: (workflowId) => answer(ok(listVersions(database, workflowId))),
    getScript(scriptId) {
      const script = store.scripts.get(scriptId)
      if (!script) return answer(missing('script', scriptId))
      const isActive = store.workflows.get(script.workflowId)?.activeScriptId === scriptId
      const { id, workflowId, version, source, createdAt } = script
      return answer(ok({ id, workflowId, version, source, createdAt, isActive }))
    },
    listRuns: (query) => answer(ok(listRuns(database, query))),
    getRunOutline(id) {
      // Links from outside, such as a notification's, may know only the attempt.
      const runId = store.handlerRuns.get(id)?.scriptRunId ?? id
      const run = getRunRow(database, runId)
      if (!run) return answer(missing('run', runId))
      const openEscalations = store.escalations
        .list({ workflowId: run.workflowId, open: true })
        .filter(({ scriptRunId }) => scriptRunId === runId)
      return answer(ok({ ...run, attempts: listAttempts(database, runId), openEscalations }))
    },
    getAttempt(handlerRunId) {
      const run = store.handlerRuns.get(handlerRunId)
      return answer(
        run ? ok(attemptDetail(database, store, run, versionOf(run.scriptId))) : missing('attempt', handlerRunId),
      )
    },
    listEvents: (query) => answer(ok(listEvents(database, query))),
    getEvent(id) {
      const event = store.events.get(id)
      return answer(event ? ok(event) : missing('event', id))
    },
    listInbox(query = {}) {
      const limit = pageLimit(query.limit)
      const found = listInboxIds(database, query).flatMap((id) => store.escalations.get(id) ?? [])
      const { rows, hasMore } = toPage(found, limit)
      return answer(ok({ rows: rows.map(inboxItem), hasMore }))
    },
    getDashboard({ sinceMs = 6 * HOUR_MS, buckets = 36 } = {}) {
      const bucketMs = Math.ceil(sinceMs / buckets)
      // On the beat of the bucket, so that bars do not change their meaning from one look to the next.
      const since = (Math.floor(now() / bucketMs) - buckets + 1) * bucketMs
      return answer(
        ok({
          needsYou: countOpen(database),
          openRuns: countOpenRuns(database),
          buckets: throughput(database, since, bucketMs, buckets),
          recentRuns: listRuns(database, { limit: 8 }).rows,
        }),
      )
    },
  }
}

function attemptDetail(database: Database, store: StoreReads, run: HandlerRun, version: number | null): AttemptDetail {
  const escalations = store.escalations.list({ workflowId: run.workflowId })
  const ulid = run.id.slice(run.id.indexOf('_') + 1)
  const last = firstIdAt('evt', (run.endTimestamp ?? run.startTimestamp) + PUBLISH_SLACK_MS)
  return {
    ...run,
    workflowName: nameOf(store, run.workflowId),
    version,
    mutation: store.mutations.ofHandlerRun(run.id) ?? null,
    logs: store.logs.ofScriptRun(run.scriptRunId).filter(({ handlerRunId }) => handlerRunId === run.id),
    escalation: escalations.findLast(({ handlerRunId }) => handlerRunId === run.id) ?? null,
    retriedBy: store.handlerRuns.retryOf(run.id)?.id ?? null,
    excerpt: excerptOf(store, run),
    reserved: reservedEvents(store, run),
    published: eventsPublishedBy(database, run, { first: `evt_${ulid}`, last }),
  }
}

/** The events that prepare chose, whatever has become of them since. */
function reservedEvents(store: StoreReads, run: HandlerRun): EventRow[] {
  if (run.prepareResult === null) return []
  const { reservations = [] } = JSON.parse(run.prepareResult) as { reservations?: { topic: string; ids: string[] }[] }
  return reservations
    .flatMap(({ topic, ids }) => store.events.getByMessageIds(run.workflowId, topic, ids))
    .map(({ id, topic, messageId, title, status, reservedByRunId, createdByRunId, createdAt }) => ({
      id,
      topic,
      messageId,
      title,
      status,
      reservedByRunId,
      createdByRunId,
      createdAt,
    }))
}

function excerptOf(store: StoreReads, run: HandlerRun): SourceExcerpt | null {
  const script = run.errorLine === null ? undefined : store.scripts.get(run.scriptId)
  if (!script || run.errorLine === null) return null
  const firstLine = Math.max(1, run.errorLine - EXCERPT_LINES)
  const lines = script.source.split('\n').slice(firstLine - 1, run.errorLine + EXCERPT_LINES)
  return { version: script.version, firstLine, lines }
}

const handlersOf = ({ producers, consumers }: WorkflowConfig) => [
  ...Object.keys(producers).map((name) => ({ name, type: 'producer' as const })),
  ...Object.keys(consumers).map((name) => ({ name, type: 'consumer' as const })),
]

/** Written by the deployment, after validation. */
const configOf = (workflow: Workflow): WorkflowConfig => ({
  ...({ name: workflow.name, permissions: [], topics: [], producers: {}, consumers: {} } satisfies WorkflowConfig),
  ...(JSON.parse(workflow.handlerConfig) as Partial<WorkflowConfig>),
})

const nameOf = (store: StoreReads, workflowId: string): string => store.workflows.get(workflowId)?.name ?? ''

const answer = <T>(result: Result<T>): Promise<Result<T>> => Promise.resolve(result)

const missing = (what: string, id: string) =>
  err(engineError('not_found', `There is no ${what} "${id}". It may have been deleted.`))
