import type { SqlJsStatic } from 'sql.js'
import { engineError } from '#engine/model/errors.ts'
import type { Event, EventDraft } from '#engine/model/event.ts'
import type { HandlerType } from '#engine/model/handler-run.ts'
import type { Json, JsonText } from '#engine/model/json.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { WorkflowConfig } from '#engine/model/workflow.ts'
import type { Clock } from '#engine/ports/clock.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import type { Store, StoreReads } from '#engine/ports/store.ts'
import type { ToolMethod, Tools } from '#engine/ports/tools.ts'
import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import { createConfigCache } from '#engine/script/config.ts'
import { gzip } from './gzip.ts'
import { createMonotonicIds } from './monotonic-ids.ts'
import { copyState } from './sqlite/copy-state.ts'
import type { Database } from './sqlite/database.ts'
import { createFileSpace } from './sqlite/file-space.ts'
import { openDatabase } from './sqlite/open-database.ts'
import { createSqliteStore } from './sqlite/store.ts'
import type { AttemptDetail } from './views-api.ts'
import { createViews } from './views.ts'

export interface TestRunRequest {
  /** Whose data is copied and whose permissions hold. */
  workflowId: string
  /** The script as it is being written. */
  source: string
  handler: string
  /** Of this workflow: its state and its events are the input, instead of what waits now. */
  attemptId?: string
}

export interface TestRunReport {
  /** As if it had happened. */
  attempt: AttemptDetail
  /** What was copied for it. */
  input: { state: JsonText | null; events: EventDraft[] }
  reserved: EventDraft[]
  published: EventDraft[]
}

export interface TestRunParts {
  sqlJs: SqlJsStatic
  store: StoreReads
  clock: Clock
  sandbox: Sandbox
  tools: Tools
}

/** Enough to see what a handler does; a copy of a million would say no more. */
const MOST_EVENTS = 200

/**
 * Tries a handler on copied data. A second engine, of the same code, over a database that is thrown away: reads reach the real world
 * within what the workflow was granted, mutations are recorded and not made, and nothing of the real database is written.
 */
export const createTestRun =
  (parts: TestRunParts) =>
  async (request: TestRunRequest): Promise<Result<TestRunReport>> => {
    const workflow = parts.store.workflows.get(request.workflowId)
    if (workflow === undefined) return err(engineError('not_found', `There is no workflow "${request.workflowId}".`))
    const opened = openDatabase(parts.sqlJs)
    if (!opened.ok) return opened
    const database = opened.value
    try {
      const world = openWorld(parts, database)
      const { source } = request
      const deployed = await world.engine.deployWorkflow({ source, grant: workflow.permissions })
      if (!deployed.ok) return deployed
      return await tryHandler(parts.store, world, deployed.value.workflowId, request)
    } finally {
      database.close()
    }
  }

interface World {
  engine: Engine
  store: Store
  database: Database
  now: () => number
}

function openWorld({ clock, sandbox, tools }: TestRunParts, database: Database): World {
  const store = createSqliteStore(database)
  const barrier = (): Promise<void> => Promise.resolve()
  const engine = createEngine({
    store,
    clock,
    ids: createMonotonicIds(clock, Math.random, null),
    sandbox,
    tools: recordMutations(tools),
    durability: { barrier, flushSoon: () => undefined, isAccepting: () => true },
    crash: { reach: () => undefined },
    compression: gzip,
    space: createFileSpace(database, { barrier }, () => undefined),
  })
  return { engine, store, database, now: clock.now }
}

/** Never started: nothing but the one handler runs, and what it schedules or wants to retry stays undone. */
async function tryHandler(
  real: StoreReads,
  { engine, store, database, now }: World,
  copyId: string,
  { workflowId, handler, attemptId }: TestRunRequest,
): Promise<Result<TestRunReport>> {
  const copy = store.workflows.get(copyId)
  if (copy === undefined) return err(engineError('internal', 'The copy of the workflow is gone.'))
  const config = createConfigCache().get(copy.id, copy.activeVersion, copy.handlerConfig)
  const type = typeOf(config, handler)
  if (type === null) return err(engineError('not_found', `The script has no producer or consumer "${handler}".`))

  const attempt = attemptId === undefined ? undefined : real.handlerRuns.get(attemptId)
  if (attempt !== undefined && attempt.workflowId !== workflowId) {
    return err(engineError('invalid_input', 'The attempt belongs to another workflow.'))
  }
  const state = attempt?.inputState ?? real.handlerStates.get(workflowId, handler)?.state ?? null
  if (state !== null) copyState(store, copyId, handler, state, now())
  const topics = config.consumers[handler]?.subscribe ?? []
  const events = inputEvents(real, workflowId, topics, attempt?.id)
  for (const { topic, messageId, title, payload } of events) {
    const event = { messageId, payload: JSON.parse(payload) as Json, ...(title !== null && { title }) }
    const published = await engine.publishEvent(copyId, topic, event)
    if (!published.ok) return published
  }

  const { transitions, executeHandler } = engine.internals
  const run = transitions.openRun(copy, 'manual')
  const tried = transitions.startAttempt(run, { type, name: handler })
  await executeHandler(tried.id)

  const views = createViews({
    database,
    store,
    listWorkflows: engine.listWorkflows,
    viewWorkflow: (id) => engine.listWorkflows().find((view) => view.id === id),
    now,
  })
  const detail = await views.getAttempt(tried.id)
  if (!detail.ok) return detail
  const draftsOf = (rows: readonly { id: string }[]): EventDraft[] =>
    rows.flatMap(({ id }) => {
      const event = store.events.get(id)
      return event === undefined ? [] : [toDraft(event)]
    })
  const { reserved, published } = detail.value
  const outcome = { attempt: detail.value, reserved: draftsOf(reserved), published: draftsOf(published) }
  return ok({ ...outcome, input: { state, events } })
}

const typeOf = ({ producers, consumers }: WorkflowConfig, name: string): HandlerType | null => {
  if (Object.hasOwn(producers, name)) return 'producer'
  return Object.hasOwn(consumers, name) ? 'consumer' : null
}

/** What an attempt holds comes first: it was its input. What waits now follows, as it would. */
function inputEvents(
  real: StoreReads,
  workflowId: string,
  topics: readonly string[],
  attemptId: string | undefined,
): EventDraft[] {
  const held = attemptId === undefined ? [] : real.events.reservedBy(attemptId)
  const waiting = topics.flatMap((topic) => real.events.peek(workflowId, topic, MOST_EVENTS))
  return [...held.filter(({ topic }) => topics.includes(topic)), ...waiting].slice(0, MOST_EVENTS).map(toDraft)
}

const toDraft = ({ topic, messageId, title, payload }: Event): EventDraft => ({ topic, messageId, title, payload })

/** Everything about a mutation is real, its arguments are checked and its permissions asked for, but the call is not made. */
const recordMutations = (tools: Tools): Tools => {
  const recorded = (method: ToolMethod): ToolMethod => {
    if (method.kind === 'read') return method
    const { reconcile: _, ...rest } = method
    return { ...rest, call: () => Promise.resolve({ kind: 'ok', value: {} }) }
  }
  return {
    find: (namespace, name) => {
      const method = tools.find(namespace, name)
      return method && recorded(method)
    },
    list: () => tools.list().map(recorded),
    covers: tools.covers,
  }
}
