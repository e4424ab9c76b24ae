import type { GithubSettings } from './tools/github/github-client.ts'
import type { LlmConnection } from './tools/llm/connection.ts'
import type { BackupDone, BackupStatus } from './persistence/folder-backup.ts'
import type { SecretInfo } from './secrets/vault.ts'
import type { Knobs as DemoKnobs } from './tools/demo/knobs.ts'
import type { DemoSnapshot } from './tools/demo/world.ts'
import type { Escalation, EscalationAction } from '#engine/model/escalation.ts'
import type { HandlerRun } from '#engine/model/handler-run.ts'
import type { Json } from '#engine/model/json.ts'
import type { LogLine } from '#engine/model/log.ts'
import type { Mutation } from '#engine/model/mutation.ts'
import type { Result } from '#engine/model/result.ts'
import type { RetryPolicy } from '#engine/model/retry-policy.ts'
import type { ScriptRun } from '#engine/model/script-run.ts'
import type { Session, SessionContextEntry, SessionEvent, SessionMessage } from '#engine/model/session.ts'
import type { AgentRequest, SessionRequest } from '#engine/model/session-request.ts'
import type { SessionStatus } from '#engine/model/session-status.ts'
import type { WorkflowConfig } from '#engine/model/workflow.ts'
import type { PreferencesApi } from './preferences-api.ts'
import type { RetentionApi } from './retention-api.ts'
import type { ViewsApi, WorkflowLimits, WorkflowView } from './views-api.ts'
import type { TestInputFound, TestInputRequest } from './test-input.ts'
import type { TestRunReport, TestRunRequest } from './test-run.ts'

export type * from './preferences-api.ts'
export type * from './views-api.ts'

/**
 * What a page can ask of the engine, across the worker boundary. Types only: screens import this file and nothing else
 * of the worker. Every method is async, answers with a Result, and may be called from any tab: a follower's calls go to the
 * leader. A command is answered when what it did is on disk.
 */
export interface EngineApi extends ViewsApi, PreferencesApi, RetentionApi {
  deployWorkflow(request: DeployRequest): Promise<Result<Deployed>>
  /** What deploying would say, without deploying. */
  checkScript(source: string): Promise<Result<ScriptCheck>>
  /** Tries one handler of a script on copied data: nothing real is written, mutations are recorded and not made. */
  testRun(request: TestRunRequest): Promise<Result<TestRunReport>>
  /** What a test run would be given, to be looked at and changed before it. */
  getTestInput(request: TestInputRequest): Promise<Result<TestInputFound>>
  /** The private workflows of agents come only when asked for. */
  listWorkflows(options?: { ofAgents?: boolean }): Promise<Result<WorkflowView[]>>
  pauseWorkflow(id: string): Promise<Result<null>>
  resumeWorkflow(id: string): Promise<Result<null>>
  archiveWorkflow(id: string): Promise<Result<null>>
  restoreWorkflow(id: string): Promise<Result<null>>
  deleteWorkflow(id: string): Promise<Result<null>>
  /** All producers now, then the consumers. */
  runWorkflow(id: string): Promise<Result<{ runId: string }>>
  publishEvent(workflowId: string, topic: string, event: PublishedEvent): Promise<Result<null>>
  /** What can be changed without a new version; absent leaves it as it is. */
  changeWorkflow(id: string, change: WorkflowSettings): Promise<Result<null>>
  /** Only pending ones are; answers how many were. */
  skipEvents(workflowId: string, eventIds: string[]): Promise<Result<{ skipped: number }>>
  /** Takes back what could still go on. What is past its mutation finishes. */
  cancelRun(runId: string): Promise<Result<null>>
  getRun(runId: string): Promise<Result<RunDetail>>
  listEscalations(filter?: { open?: boolean }): Promise<Result<Escalation[]>>
  resolveEscalation(id: string, action: EscalationAction, value?: Json): Promise<Result<null>>
  /** `invalid_session` with every problem in `details`: `{ message, agents, line?, column? }`. */
  createSession(request: SessionRequest): Promise<Result<{ sessionId: string }>>
  /** What creating it would complain of, without creating it. */
  checkSession(request: SessionRequest): Promise<Result<SessionProblemView[]>>
  startSession(id: string): Promise<Result<null>>
  /** Running agents stop at the next phase boundary. */
  pauseSession(id: string): Promise<Result<null>>
  resumeSession(id: string): Promise<Result<null>>
  /** What is past its mutation still finishes; everything before it is given back. */
  cancelSession(id: string): Promise<Result<null>>
  /** Only a failed agent, by its id or its key. */
  retryAgent(sessionId: string, agentId: string): Promise<Result<null>>
  addAgent(sessionId: string, agent: AgentRequest): Promise<Result<{ agentId: string }>>
  /** The same agents and tasks as a new session that has not been started. */
  cloneSession(id: string): Promise<Result<{ sessionId: string }>>
  deleteSession(id: string): Promise<Result<null>>
  /** Newest first. */
  listSessions(): Promise<Result<Session[]>>
  getSessionStatus(id: string): Promise<Result<SessionStatus>>
  /** Oldest first, from the event after `after` on: with the change notices this is a stream that can be resumed anywhere. */
  listSessionEvents(id: string, options?: { after?: number; limit?: number }): Promise<Result<SessionEvent[]>>
  listSessionContext(id: string): Promise<Result<SessionContextEntry[]>>
  listSessionMessages(id: string): Promise<Result<SessionMessage[]>>
  /** Rows as objects; anything that would write is refused with `read_only`. */
  sql(query: string, params?: SqlParam[]): Promise<Result<SqlRow[]>>
  /** A real SQLite file of everything. */
  exportDatabase(): Promise<Result<Uint8Array>>
  /** What is in a file, without changing anything; a file that could not be imported says why. */
  checkImport(bytes: Uint8Array): Promise<Result<ImportPreview>>
  /** Puts the file in the place of everything. A bad file is refused and changes nothing; a good one can be undone. */
  importDatabase(bytes: Uint8Array): Promise<Result<null>>
  undoImport(): Promise<Result<null>>
  /** Where what is stored cannot be opened: begins with nothing. What is there is kept beside it, as after an import. */
  startAnew(): Promise<Result<null>>
  /** Gives up the way back from the last import, and gives back the room it takes. */
  keepImport(): Promise<Result<null>>
  backupStatus(): Promise<Result<BackupStatus>>
  /** Automatic backups go to this folder from now on; null switches them off. */
  chooseBackupFolder(folder: FileSystemDirectoryHandle | null): Promise<Result<BackupStatus>>
  /** For the page, which alone can ask for permission to write to it again. */
  getBackupFolder(): Promise<Result<FileSystemDirectoryHandle | null>>
  backUpNow(): Promise<Result<BackupDone>>
  storage(): Promise<Result<StorageInfo>>
  engineInfo(): Promise<Result<EngineInfo>>
  /** Resolves when no handler is active, nothing is runnable now, and everything is durable. */
  idle(options?: { timeoutMs?: number }): Promise<Result<null>>
  /** The tab became visible, came online or woke up: look for work now. */
  wake(): Promise<Result<null>>

  /** Every method that scripts find on `ctx`, with what the editor shows for it. */
  listTools(): Promise<Result<ToolDoc[]>>
  listSecrets(): Promise<Result<SecretInfo[]>>
  /** The value goes in and never comes out again. */
  putSecret(secret: { name: string; value: string; hosts: string[] }): Promise<Result<SecretInfo>>
  removeSecret(name: string): Promise<Result<null>>
  secretsStatus(): Promise<Result<{ isLocked: boolean; hasPassphrase: boolean }>>
  /** Null goes back to the key of this device. */
  setSecretsPassphrase(passphrase: string | null): Promise<Result<null>>
  unlockSecrets(passphrase: string): Promise<Result<null>>
  /** Forgets the key until the passphrase is given again; without a passphrase there is nothing to lock. */
  lockSecrets(): Promise<Result<null>>
  getConnections(): Promise<Result<ServiceConnections>>
  setConnections(change: Partial<ServiceConnections>): Promise<Result<null>>
  /** Asks the service itself, by the way a script would; the answer says in words what came back. */
  testConnection(which: ConnectionName): Promise<Result<{ message: string }>>
  /** `isLocked`: the browser wants the user to allow it again. */
  listFolders(): Promise<Result<{ name: string; isLocked: boolean }[]>>
  /** The handle itself: only a page may ask the user for its permission again. */
  getFolder(name: string): Promise<Result<FileSystemDirectoryHandle>>
  putFolder(name: string, handle: FileSystemDirectoryHandle): Promise<Result<null>>
  removeFolder(name: string): Promise<Result<null>>

  /** The demo world, for its screen and for tests. */
  demoSnapshot(): Promise<Result<DemoSnapshot>>
  setDemoKnobs(knobs: Partial<DemoKnobs>): Promise<Result<DemoKnobs>>
  setDemoPace(everyMs: number): Promise<Result<null>>
  deliverDemoMail(mail: { from: string; subject: string; body?: string }): Promise<Result<{ id: string }>>
  resetDemo(): Promise<Result<null>>
}

export type { GithubSettings, LlmConnection }
export type { BackupDone, BackupStatus, DemoKnobs, DemoSnapshot, SecretInfo, TestInputFound, TestRunReport }

export interface ImportPreview {
  bytes: number
  rowsByTable: Record<string, number>
}

export interface ToolDoc {
  name: string
  kind: 'read' | 'mutation'
  title: string
  signature: string
  text: string
  example: string
}

/** GitHub, or a language model by its name. */
export type ConnectionName = { kind: 'github' } | { kind: 'llm'; name: string }

export interface ServiceConnections {
  llm: LlmConnection[]
  github: GithubSettings
}

export interface DeployRequest {
  source: string
  name?: string
  workflowId?: string
  activate?: boolean
  grant?: 'declared' | 'none' | string[]
}

export interface WorkflowSettings {
  name?: string
  /** Handler runs per run. */
  budget?: number
  /** IANA name; null means the browser's. */
  timezone?: string | null
  /** All that is granted from now on. */
  permissions?: string[]
  /**
   * Of the sandbox, within what the host can bear, and of any 24 hours. Replaces what was set before; {} goes back to the
   * defaults.
   */
  limits?: WorkflowLimits
  /** Holds from the next failure on; null goes back to that of everywhere. */
  retryPolicy?: RetryPolicy | null
  /** How long its finished runs are kept, 0 for ever; null is as long as everywhere. */
  retentionDays?: number | null
}

export interface ScriptProblemView {
  severity: 'error' | 'warning'
  message: string
  line: number
  column: number
}

export interface ScriptCheck {
  problems: ScriptProblemView[]
  /** Null while there are errors. */
  config: WorkflowConfig | null
  /** What it asks for, in words; without words it is nothing that could be granted. */
  permissions: { name: string; meaning: string | null }[]
}

export interface SessionProblemView {
  message: string
  /** Keys of the agents it is about. */
  agents: string[]
  /** In the script of that agent. */
  line?: number
  column?: number
}

export interface Deployed {
  workflowId: string
  version: number
  warnings: ScriptProblemView[]
}

export interface PublishedEvent {
  messageId: string
  title?: string
  payload?: Json
}

export interface RunDetail extends ScriptRun {
  handlerRuns: (HandlerRun & { mutation: Mutation | null })[]
  logs: (LogLine & { handlerRunId: string })[]
}

export type SqlParam = string | number | null
export type SqlRow = Record<string, string | number | null | Uint8Array>

export interface StorageInfo {
  /** Of the database file itself. */
  databaseBytes: number
  /** Changes since the file was last written whole. */
  logBytes: number
  usageBytes: number | null
  quotaBytes: number | null
  isPersisted: boolean
  /** When an import replaced everything; as long as it is told, the import can be undone. */
  replacedAt: number | null
  /** The browser had thrown its database away, and it was put together again from its copy in files. */
  wasRestored: boolean
  /** `ok`, or what is wrong and what to do about it. */
  trouble: { kind: string; message: string; advice: string; since: number } | null
}

export type EngineRole = 'leader' | 'follower'
export type EngineState = 'running' | 'storage_full' | 'storage_lost' | 'stopped' | 'failed'

export interface RecoverySummary {
  at: number
  durationMs: number
  recoveredRuns: number
  askedUser: number
  gaveUp: number
  continuedRuns: number
  violations: string[]
}

export interface EngineInfo {
  version: string
  /** One tab leads and runs the engine; the others reach it through the leader. */
  role: EngineRole
  state: EngineState
  /** Grows with every takeover, so that an old leader can be told from the present one. */
  epoch: number
  lastRecovery: RecoverySummary | null
  /** Commits of several steps that failed as one; each step was then made by itself. Null when there were none. */
  undone: { count: number; lastReason: string } | null
  nextWakeAt: number | null
  lastLookAt: number | null
  /** When what was committed last reached the disk. */
  lastFlushAt: number | null
  sqliteVersion: string
}
