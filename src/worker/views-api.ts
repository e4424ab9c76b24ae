import type { FailureType } from '#engine/model/errors.ts'
import type { Escalation, EscalationAction } from '#engine/model/escalation.ts'
import type { Event, EventStatus } from '#engine/model/event.ts'
import type { HandlerRun, HandlerType, Phase, RunStatus } from '#engine/model/handler-run.ts'
import type { JsonText } from '#engine/model/json.ts'
import type { LogLine } from '#engine/model/log.ts'
import type { Mutation } from '#engine/model/mutation.ts'
import type { Result } from '#engine/model/result.ts'
import type { RetryPolicy } from '#engine/model/retry-policy.ts'
import type { RunResult, RunTrigger, ScriptRun } from '#engine/model/script-run.ts'
import type { Block, DailyLimits, WorkflowConfig, WorkflowStatus } from '#engine/model/workflow.ts'
import type { SandboxLimits } from '#engine/ports/sandbox.ts'

/**
 * What screens read. Lists are paged by key (`before` is the id of the last row that is known), newest first, and carry only
 * what a row shows; the rest is asked for when it is looked at. A search in a long list answers piece by piece (`lookedTo`), so
 * that the engine works on between the pieces and nobody has to take back a question that is not wanted any more.
 */
export interface ViewsApi {
  listWorkflowRows(): Promise<Result<WorkflowRow[]>>
  getWorkflow(id: string): Promise<Result<WorkflowDetail>>
  listVersions(workflowId: string): Promise<Result<ScriptVersion[]>>
  getScript(scriptId: string): Promise<Result<ScriptSource>>
  listRuns(query?: RunQuery): Promise<Result<Listed<RunRow>>>
  /** Small enough for ten thousand attempts. */
  getRunOutline(runId: string): Promise<Result<RunOutline>>
  getAttempt(handlerRunId: string): Promise<Result<AttemptDetail>>
  listEvents(query: EventQuery): Promise<Result<Listed<EventRow>>>
  getEvent(id: string): Promise<Result<Event>>
  listInbox(query?: InboxQuery): Promise<Result<Listed<InboxItem>>>
  getDashboard(query?: { sinceMs?: number; buckets?: number }): Promise<Result<Dashboard>>
}

/** Status and block as one word for people. */
export type WorkflowState = 'draft' | 'running' | 'idle' | 'retrying' | 'needs_you' | 'paused' | 'archived'

export interface WorkflowView {
  id: string
  name: string
  status: WorkflowStatus
  state: WorkflowState
  block: Block | null
  version: number
  permissions: string[]
  nextWakeAt: number | null
  /** When what stopped is tried again; null when nothing is to be. */
  retryAt: number | null
  pendingEvents: number
  createdAt: number
  updatedAt: number
}

export type WorkflowLimits = Partial<SandboxLimits & DailyLimits>

/** A page of a list. */
export interface Listed<T> {
  rows: T[]
  /** There are older ones, or there may be. */
  hasMore: boolean
  /** Only so far was searched: asking again with this as `before` goes on from there. */
  lookedTo?: string
}

interface PageQuery {
  before?: string
  limit?: number
}

export interface ScheduleView {
  producerName: string
  type: 'interval' | 'cron'
  value: string
  timezone: string | null
  nextRunAt: number
  lastRunAt: number | null
}

export interface RunGlance {
  id: string
  result: RunResult | null
  startTimestamp: number
  endTimestamp: number | null
}

export interface WorkflowRow extends WorkflowView {
  schedules: ScheduleView[]
  lastRun: RunGlance | null
}

export interface TopicGlance {
  name: string
  pending: number
  reserved: number
  oldestPendingAt: number | null
}

export interface HandlerGlance {
  name: string
  type: HandlerType
  state: JsonText | null
  wakeAt: number | null
  lastAttempt: {
    id: string
    scriptRunId: string
    status: RunStatus
    phase: Phase
    startTimestamp: number
    endTimestamp: number | null
  } | null
}

export interface WorkflowDetail extends WorkflowRow {
  config: WorkflowConfig
  scriptId: string | null
  timezone: string | null
  budget: number
  /** Null is that of everywhere. */
  retryPolicy: RetryPolicy | null
  /** Null is as long as everywhere. */
  retentionDays: number | null
  /** The session whose agent this is the private workflow of. */
  sessionId: string | null
  /** What a person has set. */
  limits: WorkflowLimits
  /** In the last 24 hours. */
  used: DailyLimits
  /** A limit of the day is used up: why, and until when what would use more of it waits. */
  limited: { message: string; until: number } | null
  topics: TopicGlance[]
  handlers: HandlerGlance[]
  openEscalations: Escalation[]
}

export interface ScriptVersion {
  id: string
  version: number
  createdAt: number
  isActive: boolean
}

export interface ScriptSource extends ScriptVersion {
  workflowId: string
  source: string
}

export interface RunQuery extends PageQuery {
  workflowId?: string
  /** `open` for those that go on. */
  result?: RunResult | 'open'
  handler?: string
  trigger?: RunTrigger
  /** In the id, the error, or the name of the workflow. */
  text?: string
  /** Started at or after, and before. */
  from?: number
  to?: number
}

export interface RunRow extends ScriptRun {
  workflowName: string
  version: number | null
  /** The question of this run that waits for a person. */
  question: { id: string; actions: EscalationAction[] } | null
}

/** One attempt as the gantt needs it. */
export interface AttemptOutline {
  id: string
  handlerType: HandlerType
  handlerName: string
  phase: Phase
  status: RunStatus
  retryOf: string | null
  attempt: number
  retryAt: number | null
  /** What the script says it is about: `ui.title` of prepare. */
  title: string | null
  error: string | null
  errorType: FailureType | null
  phaseTimes: JsonText
  startTimestamp: number
  endTimestamp: number | null
}

export interface RunOutline extends ScriptRun {
  workflowName: string
  version: number | null
  attempts: AttemptOutline[]
  openEscalations: Escalation[]
}

export interface SourceExcerpt {
  version: number
  /** Number of the first line given. */
  firstLine: number
  lines: string[]
}

export interface AttemptDetail extends HandlerRun {
  workflowName: string
  version: number | null
  mutation: Mutation | null
  logs: LogLine[]
  escalation: Escalation | null
  /** The retry that was made of this one. */
  retriedBy: string | null
  /** Around the line the error came from. */
  excerpt: SourceExcerpt | null
  reserved: EventRow[]
  published: EventRow[]
}

export interface EventQuery extends PageQuery {
  workflowId: string
  topic?: string
  status?: EventStatus
  /** In the title or the message id. */
  text?: string
}

/** An event without its payload. */
export interface EventRow {
  id: string
  topic: string
  messageId: string
  title: string | null
  status: EventStatus
  reservedByRunId: string | null
  createdByRunId: string | null
  createdAt: number
}

export interface InboxQuery extends PageQuery {
  open?: boolean
  workflowId?: string
}

export interface InboxItem extends Escalation {
  workflowName: string
  version: number | null
  handlerName: string
  mutation: Mutation | null
  excerpt: SourceExcerpt | null
}

export interface ThroughputBucket {
  at: number
  committed: number
  failed: number
}

export interface Dashboard {
  needsYou: number
  openRuns: number
  buckets: ThroughputBucket[]
  recentRuns: RunRow[]
}
