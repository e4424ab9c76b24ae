import type { SqlJsStatic } from 'sql.js'
import { engineError } from '#engine/model/errors.ts'
import type { EventDraft } from '#engine/model/event.ts'
import type { HandlerType } from '#engine/model/handler-run.ts'
import type { Json } from '#engine/model/json.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { parseTestInput, type TestInput } from '#engine/model/test-input.ts'
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
import { copyInput, toDraft, type CopiedInput } from './test-input.ts'
import type { AttemptDetail } from './views-api.ts'
import { createViews } from './views.ts'

export interface TestRunRequest {
  /** Whose data is copied and whose permissions hold; absent for a script that was never deployed. */
  workflowId?: string
  /** The script as it is being written. */
  source: string
  handler: string
  /** Of this workflow: its state and its events are the input, instead of what waits now. */
  attemptId?: string
  /** Instead of anything that could be copied. */
  input?: Partial<TestInput>
  /** What it may read. Without it: what the workflow was granted, and nothing without a workflow. */
  grant?: 'declared' | 'none' | string[]
}

export interface TestRunReport {
  /** As if it had happened. */
  attempt: AttemptDetail
  /** What it was given. */
  input: CopiedInput
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

/**
 * Tries a handler on copied data. A second engine, of the same code, over a database that is thrown away: reads reach the real world
 * within what the workflow was granted, mutations are recorded and not made, and nothing of the real database is written.
 */
export const createTestRun =
  (parts: TestRunParts) =>
  async (request: TestRunRequest): Promise<Result<TestRunReport>> => {
    const granted = grantOf(parts.store, request)
    if (!granted.ok) return granted
    const opened = openDatabase(parts.sqlJs)
    if (!opened.ok) return opened
    const database = opened.value
    try {
      const world = openWorld(parts, database)
      const { source } = request
      const deployed = await world.engine.deployWorkflow({ source, grant: granted.value })
      if (!deployed.ok) return deployed
      return await tryHandler(parts.store, world, deployed.value.workflowId, request)
    } finally {
      database.close()
    }
  }

/** A script that nobody has agreed to yet may read nothing, unless this was said for the test. */
function grantOf(real: StoreReads, request: TestRunRequest): Result<'declared' | 'none' | string[]> {
  const { workflowId, grant } = request
  const workflow = workflowId === undefined ? undefined : real.workflows.get(workflowId)
  if (workflowId !== undefined && workflow === undefined) {
    return err(engineError('not_found', `There is no workflow "${workflowId}".`))
  }
  return ok(grant ?? workflow?.permissions ?? 'none')
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
  request: TestRunRequest,
): Promise<Result<TestRunReport>> {
  const { handler } = request
  const copy = store.workflows.get(copyId)
  if (copy === undefined) return err(engineError('internal', 'The copy of the workflow is gone.'))
  const config = createConfigCache().get(copy.id, copy.activeVersion, copy.handlerConfig)
  const type = typeOf(config, handler)
  if (type === null) return err(engineError('not_found', `The script has no producer or consumer "${handler}".`))

  const input = inputOf(real, request, config.consumers[handler]?.subscribe ?? [])
  if (!input.ok) return input
  const { state, events } = input.value
  if (state !== null) copyState(store, copyId, handler, state, now())
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

/** What was given, or else copies of what there is. */
function inputOf(real: StoreReads, request: TestRunRequest, topics: readonly string[]): Result<CopiedInput> {
  const { workflowId, handler, attemptId, input } = request
  if (input !== undefined) {
    const parsed = parseTestInput(input)
    return parsed.ok ? ok(toCopied(parsed.value)) : parsed
  }
  if (workflowId === undefined) return ok({ state: null, events: [] })
  return copyInput(real, { workflowId, handler, topics, ...(attemptId !== undefined && { attemptId }) })
}

const toCopied = ({ state, events }: TestInput): CopiedInput => ({
  state: state === null ? null : JSON.stringify(state),
  events: events.map(({ topic, messageId, title = null, payload = {} }) => {
    return { topic, messageId, title, payload: JSON.stringify(payload) }
  }),
})

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
