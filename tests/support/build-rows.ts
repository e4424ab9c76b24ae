import type { Escalation } from '#engine/model/escalation.ts'
import type { HandlerRun } from '#engine/model/handler-run.ts'
import type { Mutation } from '#engine/model/mutation.ts'
import type { ScriptRun } from '#engine/model/script-run.ts'
import type { Session } from '#engine/model/session.ts'
import type { Script, Workflow } from '#engine/model/workflow.ts'
import type { EventWrites, StoreWrites } from '#engine/ports/store.ts'

/** Rows that are valid as they are, so that a test says only what it is about. */

export const buildWorkflow = (changes: Partial<Workflow> = {}): Workflow => ({
  id: 'wf_1',
  name: 'Inbox triage',
  status: 'active',
  block: null,
  activeScriptId: 'scr_1',
  activeVersion: 1,
  handlerConfig: '{"producers":{"poll":{}},"consumers":{"process":{},"digest":{}}}',
  permissions: ['demo'],
  timezone: null,
  budget: 100,
  retryPolicy: null,
  retentionDays: null,
  sessionId: null,
  createdAt: 1,
  updatedAt: 1,
  ...changes,
})

export const buildScript = (changes: Partial<Script> = {}): Script => ({
  id: 'scr_1',
  workflowId: 'wf_1',
  version: 1,
  source: 'export default {}',
  config: '{}',
  createdAt: 1,
  ...changes,
})

export const buildScriptRun = (changes: Partial<ScriptRun> = {}): ScriptRun => ({
  id: 'run_1',
  workflowId: 'wf_1',
  scriptId: 'scr_1',
  trigger: 'manual',
  result: null,
  error: null,
  cost: 0,
  handlerRunCount: 0,
  startTimestamp: 1_700_000_000_000,
  endTimestamp: null,
  ...changes,
})

export const buildHandlerRun = (changes: Partial<HandlerRun> = {}): HandlerRun => ({
  id: 'hr_1',
  scriptRunId: 'run_1',
  workflowId: 'wf_1',
  scriptId: 'scr_1',
  handlerType: 'consumer',
  handlerName: 'process',
  phase: 'preparing',
  status: 'active',
  retryOf: null,
  attempt: 1,
  retriesUsed: 0,
  retryAt: null,
  prepareResult: null,
  mutationOutcome: null,
  mutationResult: null,
  inputState: null,
  outputState: null,
  error: null,
  errorType: null,
  errorLine: null,
  errorColumn: null,
  cost: 0,
  phaseTimes: '[]',
  startTimestamp: 1_700_000_000_000,
  endTimestamp: null,
  ...changes,
})

export const buildMutation = (changes: Partial<Mutation> = {}): Mutation => ({
  id: 'mut_1',
  handlerRunId: 'hr_1',
  workflowId: 'wf_1',
  toolNamespace: 'http',
  toolMethod: 'post',
  params: '{"url":"https://example.com"}',
  idempotencyKey: 'key',
  status: 'pending',
  result: null,
  error: null,
  resolvedBy: null,
  resolvedAt: null,
  createdAt: 1,
  updatedAt: 1,
  ...changes,
})

export const buildEscalation = (changes: Partial<Escalation> = {}): Escalation => ({
  id: 'esc_1',
  workflowId: 'wf_1',
  scriptRunId: 'run_1',
  handlerRunId: 'hr_1',
  mutationId: null,
  kind: 'logic_failure',
  message: 'x is not a function',
  details: { line: 3 },
  actions: ['retry', 'skip'],
  resolution: null,
  resolutionValue: null,
  createdAt: 1,
  resolvedAt: null,
  ...changes,
})

export const buildSession = (changes: Partial<Session> = {}): Session => ({
  id: 'sess_1',
  objective: 'Get it done',
  strategy: 'adaptive',
  state: 'running',
  onFailure: 'stop',
  maxParallel: null,
  agentCount: 1,
  completedAgents: 0,
  failedAgents: 0,
  metadata: {},
  errorMessage: null,
  createdAt: 1,
  startedAt: 1,
  completedAt: null,
  restoredAt: null,
  ...changes,
})

type Publication = Parameters<EventWrites['publish']>[0]
export const buildPublication = (changes: Partial<Publication> = {}): Publication => ({
  id: 'evt_1',
  workflowId: 'wf_1',
  topic: 'mail',
  messageId: 'm1',
  title: 'Hello',
  payload: '{"from":"ada"}',
  createdByRunId: null,
  causedBy: [],
  createdAt: 1_700_000_000_000,
  ...changes,
})

/** A workflow with one script and the topics `mail` and `row`. */
export function insertWorkflow(tx: StoreWrites, id = 'wf_1'): void {
  const script = buildScript({ id: `scr_${id.slice(3)}`, workflowId: id })
  tx.workflows.insert(buildWorkflow({ id, activeScriptId: script.id }))
  tx.scripts.insert(script)
  tx.topics.ensure(id, ['mail', 'row'], 1)
}

/** The same with an open run and, in it, one active consumer. */
export function insertActiveRun(tx: StoreWrites, run: Partial<HandlerRun> = {}): void {
  insertWorkflow(tx)
  tx.scriptRuns.insert(buildScriptRun({ handlerRunCount: 1, cost: run.cost ?? 0 }))
  tx.handlerRuns.insert(buildHandlerRun(run))
}
