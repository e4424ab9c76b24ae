import type { Escalation, EscalationAction } from '../model/escalation.ts'
import type { Event, EventDraft } from '../model/event.ts'
import type { HandlerRun } from '../model/handler-run.ts'
import type { JsonText } from '../model/json.ts'
import type { LogLine } from '../model/log.ts'
import type { Mutation } from '../model/mutation.ts'
import type { RunResult, ScriptRun } from '../model/script-run.ts'
import type { Session, SessionAgent, SessionContextEntry, SessionEvent, SessionMessage } from '../model/session.ts'
import type { Block, HandlerState, ProducerSchedule, Script, Workflow, WorkflowStatus } from '../model/workflow.ts'
import type { ArchiveReads, ArchiveWrites } from './archive-store.ts'

/** A handler of a workflow, by name. */
export interface HandlerKey {
  workflowId: string
  handlerName: string
}

export interface WorkflowReads {
  get(id: string): Workflow | undefined
  /** Those of agents included. */
  list(): Workflow[]
  /** Which of these are active and not blocked. */
  startable(ids: readonly string[]): string[]
  /** The earliest of each kind, for all the workflows named at once. */
  plannedTimes(ids: readonly string[]): PlannedTimes[]
}
export interface PlannedTimes {
  workflowId: string
  nextRunAt: number | null
  wakeAt: number | null
  retryAt: number | null
}
export interface WorkflowWrites extends WorkflowReads {
  insert(workflow: Workflow): void
  setStatus(id: string, status: WorkflowStatus, now: number): void
  setBlock(id: string, block: Block | null, now: number): void
  setActiveScript(
    id: string,
    active: Pick<Workflow, 'name' | 'activeScriptId' | 'activeVersion' | 'handlerConfig'>,
    now: number,
  ): void
  setSettings(
    id: string,
    settings: Pick<Workflow, 'name' | 'budget' | 'timezone' | 'retryPolicy' | 'retentionDays'>,
    now: number,
  ): void
  setPermissions(id: string, permissions: readonly string[], now: number): void
  /** Removes the workflow and everything it owns. */
  delete(id: string): void
}

export interface ScriptReads {
  get(id: string): Script | undefined
  listByWorkflow(workflowId: string): Script[]
}
export interface ScriptWrites extends ScriptReads {
  insert(script: Script): void
}

export interface TopicWrites {
  /** Creates the topics that are not there yet; existing ones keep their events. */
  ensure(workflowId: string, names: readonly string[], now: number): void
}

export interface PendingTopic {
  workflowId: string
  topic: string
  pending: number
  /** Id of the oldest pending event: ids are ordered by age. */
  oldestEventId: string
}
export interface EventReads {
  get(id: string): Event | undefined
  /** Pending events of one topic, oldest first. */
  peek(workflowId: string, topic: string, limit: number): Event[]
  getByMessageIds(workflowId: string, topic: string, messageIds: readonly string[]): Event[]
  reservedBy(runId: string): Event[]
  reservedIds(runId: string): readonly string[]
  /** Id of the oldest pending event of each topic that has one. Costs the same however many are pending. */
  oldestPending(workflowId: string): Map<string, string>
  /** One grouped count for all the workflows named, never one per topic. */
  pendingByTopic(workflowIds: readonly string[]): PendingTopic[]
}
export type PublishEffect = 'inserted' | 'updated' | 'ignored'
export interface EventWrites extends EventReads {
  /** Idempotent per (topic, messageId): updates a pending event's title and payload, never resurrects a settled one. */
  publish(
    event: EventDraft & Pick<Event, 'id' | 'workflowId' | 'createdByRunId' | 'causedBy' | 'createdAt'>,
  ): PublishEffect
  /** For an attempt that holds nothing yet. */
  reserve(eventIds: readonly string[], runId: string): void
  /** Gives back what a run holds, as pending. Returns the topics that have pending events again. */
  releaseReserved(runId: string): string[]
  /** Ends what a run holds. */
  settleReserved(runId: string, status: 'consumed' | 'skipped'): void
  transferReserved(fromRunId: string, toRunId: string): void
  /** Only pending events can be skipped; returns how many were. */
  skipPending(eventIds: readonly string[]): number
}

export interface ScriptRunReads {
  get(id: string): ScriptRun | undefined
  /** At most one is open per workflow. */
  openOf(workflowId: string): ScriptRun | undefined
  listOpen(): ScriptRun[]
}
export interface ScriptRunWrites extends ScriptRunReads {
  insert(run: ScriptRun): void
  close(id: string, result: RunResult, error: string | null, endTimestamp: number): void
  reopen(id: string): void
  countHandlerRun(id: string): void
  addCost(id: string, cost: number): void
}

export type HandlerRunPatch = Partial<
  Omit<
    HandlerRun,
    | 'id'
    | 'scriptRunId'
    | 'workflowId'
    | 'scriptId'
    | 'handlerType'
    | 'handlerName'
    | 'retryOf'
    | 'attempt'
    | 'startTimestamp'
  >
>
export interface HandlerRunReads {
  get(id: string): HandlerRun | undefined
  activeOf(workflowId: string): HandlerRun | undefined
  listActive(): HandlerRun[]
  listByScriptRun(scriptRunId: string): HandlerRun[]
  /** The attempt that was made after this one, if any. */
  retryOf(id: string): HandlerRun | undefined
  /** Attempts waiting for their retry, due or not: their handlers are held back until then. */
  awaitingRetry(workflowId: string): HandlerRun[]
  /** Due by `now` and later than `after`, when that is given. */
  dueRetries(now: number, after?: number): HandlerRun[]
  /** The last attempt of the workflow, when it stopped and nothing is planned to follow it. */
  lastStopped(workflowId: string): HandlerRun | undefined
  /** The first one still to come: what is due already is waiting for something other than time. */
  nextRetryAt(after: number): number | null
  /** Producers that already had an attempt in this run. */
  producersRunIn(scriptRunId: string): string[]
  /** Integer micro-units, over the attempts that were started after `since`. */
  costSince(workflowId: string, since: number): number
  /** Counting back from the newest: the start of the attempt with which the cost reached `cost`; null when it did not. */
  costReachedAt(workflowId: string, since: number, cost: number): number | null
}
export interface HandlerRunWrites extends HandlerRunReads {
  insert(run: HandlerRun): void
  update(id: string, patch: HandlerRunPatch): void
}

export interface MutationReads {
  get(id: string): Mutation | undefined
  ofHandlerRun(handlerRunId: string): Mutation | undefined
  /** Those that changed the outside world after `since`, or may have. */
  madeSince(workflowId: string, since: number): number
  /** Counting back from the newest: when the `count`-th of them was recorded; null when there were fewer. */
  madeAt(workflowId: string, since: number, count: number): number | null
}
export type MutationPatch = Partial<Pick<Mutation, 'status' | 'result' | 'error' | 'resolvedBy' | 'resolvedAt'>>
export interface MutationWrites extends MutationReads {
  insert(mutation: Mutation): void
  update(id: string, patch: MutationPatch, now: number): void
}

export interface HandlerStateReads {
  get(workflowId: string, handlerName: string): HandlerState | undefined
  forWorkflow(workflowId: string): HandlerState[]
  /** Due by `now` and later than `after`, when that is given. */
  dueWakes(now: number, after?: number): (HandlerKey & { wakeAt: number })[]
  nextWakeAt(after: number): number | null
}
export interface HandlerStateWrites extends HandlerStateReads {
  setState(workflowId: string, handlerName: string, state: JsonText, now: number): void
  setWakeAt(workflowId: string, handlerName: string, wakeAt: number | null, now: number): void
}

export interface ProducerScheduleReads {
  forWorkflow(workflowId: string): ProducerSchedule[]
  /** Due by `now` and later than `after`, when that is given. */
  due(now: number, after?: number): ProducerSchedule[]
  nextRunAt(after: number): number | null
  /** Still to come, but planned at a time that is still to come as well: the clock was set back since. */
  plannedAhead(now: number): ProducerSchedule[]
}
export interface ProducerScheduleWrites extends ProducerScheduleReads {
  put(schedule: ProducerSchedule, now: number): void
  remove(workflowId: string, producerName: string): void
  served(workflowId: string, producerName: string, nextRunAt: number, lastRunAt: number): void
}

export interface EscalationReads {
  get(id: string): Escalation | undefined
  openOfHandlerRun(handlerRunId: string): Escalation | undefined
  /** A person was asked because its retries were used up, whatever they answered. */
  wasExhausted(handlerRunId: string): boolean
  list(filter: { open?: boolean; workflowId?: string }): Escalation[]
}
export interface EscalationWrites extends EscalationReads {
  insert(escalation: Escalation): void
  resolve(id: string, action: EscalationAction, value: JsonText | null, now: number): void
}

export interface LogWrites {
  append(run: Pick<HandlerRun, 'id' | 'scriptRunId' | 'workflowId'>, lines: readonly LogLine[]): void
}
export interface LogReads {
  ofScriptRun(scriptRunId: string): (LogLine & { handlerRunId: string })[]
}

export interface SettingReads {
  get(key: string): JsonText | undefined
}
export interface SettingWrites extends SettingReads {
  set(key: string, value: JsonText, now: number): void
  /** Harmless when there is none. */
  remove(key: string): void
}

export type SessionPatch = Partial<
  Pick<
    Session,
    | 'state'
    | 'agentCount'
    | 'completedAgents'
    | 'failedAgents'
    | 'errorMessage'
    | 'startedAt'
    | 'completedAt'
    | 'restoredAt'
  >
>
export interface SessionReads {
  get(id: string): Session | undefined
  /** Newest first. */
  list(): Session[]
  /** Neither finished nor only planned. */
  listUnderWay(): Session[]
  /** Integer micro-units, over all runs of all agents. */
  costOf(id: string): number
}
export interface SessionWrites extends SessionReads {
  insert(session: Session): void
  update(id: string, patch: SessionPatch): void
  /** Removes the session and everything it owns, the private workflows of its agents included. */
  delete(id: string): void
}

export type AgentPatch = Partial<
  Pick<SessionAgent, 'state' | 'runId' | 'exitCode' | 'output' | 'errorMessage' | 'startedAt' | 'completedAt'>
>
/** What the plan of a session is made from: less than a whole agent, because it is read after every move. */
export type AgentInPlan = Pick<
  SessionAgent,
  'id' | 'key' | 'role' | 'state' | 'dependencies' | 'stage' | 'position' | 'workflowId' | 'startedAt'
>
export interface SessionAgentReads {
  get(id: string): SessionAgent | undefined
  /** In the order of their positions. */
  ofSession(sessionId: string): SessionAgent[]
  planOf(sessionId: string): AgentInPlan[]
  /** What these agents of a session handed in, by key; those without an output are left out. */
  outputs(sessionId: string, keys: readonly string[]): Map<string, JsonText>
  ofWorkflow(workflowId: string): SessionAgent | undefined
}
export interface SessionAgentWrites extends SessionAgentReads {
  insert(agent: SessionAgent): void
  update(id: string, patch: AgentPatch): void
}

export interface SessionEventReads {
  /** Oldest first. */
  after(sessionId: string, eventId: number, limit: number): SessionEvent[]
  /** Id of the newest one; 0 when there is none. */
  lastId(sessionId: string): number
}
export interface SessionEventWrites extends SessionEventReads {
  append(event: Omit<SessionEvent, 'id'>): void
}

export interface SessionContextReads {
  get(sessionId: string, key: string): SessionContextEntry | undefined
  list(sessionId: string): SessionContextEntry[]
}
export interface SessionContextWrites extends SessionContextReads {
  set(entry: SessionContextEntry): void
}

export interface SessionMessageReads {
  list(sessionId: string): SessionMessage[]
  /** Not read yet, oldest first. */
  unreadBy(agentId: string): SessionMessage[]
}
export interface SessionMessageWrites extends SessionMessageReads {
  send(message: Omit<SessionMessage, 'id' | 'readAt'>): void
  /** These were shown to this attempt. */
  markSeen(messageIds: readonly number[], handlerRunId: string): void
  /** What the attempt saw is read now; returns the ids. */
  markRead(agentId: string, handlerRunId: string, readAt: number): number[]
  transferSeen(agentId: string, fromRunId: string, toRunId: string): void
}

export interface StoreReads {
  readonly workflows: WorkflowReads
  readonly scripts: ScriptReads
  readonly events: EventReads
  readonly scriptRuns: ScriptRunReads
  readonly handlerRuns: HandlerRunReads
  readonly mutations: MutationReads
  readonly handlerStates: HandlerStateReads
  readonly producerSchedules: ProducerScheduleReads
  readonly escalations: EscalationReads
  readonly logs: LogReads
  readonly settings: SettingReads
  readonly sessions: SessionReads
  readonly sessionAgents: SessionAgentReads
  readonly sessionEvents: SessionEventReads
  readonly sessionContext: SessionContextReads
  readonly sessionMessages: SessionMessageReads
  readonly archives: ArchiveReads
}

export interface StoreWrites extends StoreReads {
  readonly workflows: WorkflowWrites
  readonly scripts: ScriptWrites
  readonly topics: TopicWrites
  readonly events: EventWrites
  readonly scriptRuns: ScriptRunWrites
  readonly handlerRuns: HandlerRunWrites
  readonly mutations: MutationWrites
  readonly handlerStates: HandlerStateWrites
  readonly producerSchedules: ProducerScheduleWrites
  readonly escalations: EscalationWrites
  readonly logs: LogWrites & LogReads
  readonly settings: SettingWrites
  readonly sessions: SessionWrites
  readonly sessionAgents: SessionAgentWrites
  readonly sessionEvents: SessionEventWrites
  readonly sessionContext: SessionContextWrites
  readonly sessionMessages: SessionMessageWrites
  readonly archives: ArchiveWrites
}

/** Anyone may read; writing is only possible inside a transaction, and only `runtime/transitions` opens one. */
export interface Store extends StoreReads {
  /** Synchronous on purpose: a transaction never spans an await. A throw inside rolls everything back. */
  transaction<T>(work: (tx: StoreWrites) => T): T
  /**
   * All transactions inside are one, committed at the end. Synchronous like a transaction, and not to be nested. A throw, also one
   * of a transaction inside that `work` does not pass on, rolls all of them back and comes out of here.
   */
  together<T>(work: () => T): T
  /** Breaches of the invariants of 1.10, in words; empty when all is well. */
  checkInvariants(): string[]
}
