import type { EscalationKind } from './escalation.ts'
import type { JsonText } from './json.ts'
import type { RetryPolicy } from './retry-policy.ts'

/** What the user wants. Only the user changes it. */
export const workflowStatuses = ['draft', 'active', 'paused', 'archived'] as const
export type WorkflowStatus = (typeof workflowStatuses)[number]

/** Of handler runs per run: beyond it, other workflows would wait for too long. */
export const mostBudget = 100_000

/** What stops the system. Only a transition changes it. */
export interface Block {
  runId: string
  kind: EscalationKind
  message: string
}

export interface Workflow {
  id: string
  name: string
  status: WorkflowStatus
  block: Block | null
  activeScriptId: string | null
  /** The version number of the active script: with the id, the key of the config cache. */
  activeVersion: number
  handlerConfig: JsonText
  permissions: string[]
  /** IANA name; null means the browser's. */
  timezone: string | null
  /** Handler runs per run. */
  budget: number
  /** Null means that of everywhere. */
  retryPolicy: RetryPolicy | null
  /** Its finished runs are kept this long, 0 for ever; null means as long as everywhere. */
  retentionDays: number | null
  /** The session whose agent this is the private workflow of; null for a workflow of its own. */
  sessionId: string | null
  createdAt: number
  updatedAt: number
}

/** What a workflow may use up in any 24 hours. */
export interface DailyLimits {
  mutationsPerDay: number
  /** Integer micro-units. */
  costPerDay: number
}

/** One immutable version of a workflow's source. */
export interface Script {
  id: string
  workflowId: string
  version: number
  source: string
  config: JsonText
  createdAt: number
}

export type Schedule = { interval: string } | { cron: string; timezone?: string }

export interface ProducerConfig {
  schedule: Schedule
  publishes: string[]
}

export interface ConsumerConfig {
  subscribe: string[]
  publishes: string[]
  hasMutate: boolean
  hasNext: boolean
}

/** What the engine needs to know of a script without running it. Extracted once per version. */
export interface WorkflowConfig {
  name: string
  permissions: string[]
  topics: string[]
  producers: Record<string, ProducerConfig>
  consumers: Record<string, ConsumerConfig>
}

/** A producer's place in time. `nextRunAt` stays at the due time until the beat is served. */
export interface ProducerSchedule {
  workflowId: string
  producerName: string
  scheduleType: 'interval' | 'cron'
  scheduleValue: string
  timezone: string | null
  nextRunAt: number
  lastRunAt: number | null
}

export interface HandlerState {
  workflowId: string
  handlerName: string
  state: JsonText | null
  wakeAt: number | null
}
