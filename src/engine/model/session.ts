import type { Json, JsonObject, JsonText } from './json.ts'

export const sessionStrategies = ['parallel', 'sequential', 'adaptive', 'pipeline'] as const
export type SessionStrategy = (typeof sessionStrategies)[number]

export const sessionStates = ['created', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const
export type SessionState = (typeof sessionStates)[number]

/** What becomes of the others when an agent fails. `ask` leaves it to a person. */
export const failurePolicies = ['stop', 'continue', 'ask'] as const
export type FailurePolicy = (typeof failurePolicies)[number]

/** Several agents working on one objective. */
export interface Session {
  id: string
  objective: string
  strategy: SessionStrategy
  state: SessionState
  onFailure: FailurePolicy
  /** Agents that may be under way at once; null for no limit. */
  maxParallel: number | null
  agentCount: number
  completedAgents: number
  failedAgents: number
  metadata: JsonObject
  errorMessage: string | null
  createdAt: number
  startedAt: number | null
  completedAt: number | null
  /** When it was brought back from its archive: from then on it can be looked at and not changed. */
  restoredAt: number | null
}

export const agentStates = [
  'pending',
  'running',
  'paused',
  'blocked',
  'completed',
  'failed',
  'cancelled',
  'skipped',
] as const
export type AgentState = (typeof agentStates)[number]

export interface SessionAgent {
  /** `agent_<role>_<instance>_<id>` */
  id: string
  sessionId: string
  /** What the others call it: unique in its session. */
  key: string
  role: string
  /** Counts the agents of one role, from 1. */
  instance: number
  /** Its place in the list of agents, from 0: the order of a sequential session. */
  position: number
  /** A sentence, or whatever its script understands. */
  task: Json
  state: AgentState
  /** Keys of the agents that must be complete before it starts. */
  dependencies: string[]
  stage: number | null
  /** Its private workflow; null once retention has taken that away. */
  workflowId: string | null
  /** The run that was opened when it was started. */
  runId: string | null
  /** 0 completed, 1 failed. */
  exitCode: number | null
  output: JsonText | null
  errorMessage: string | null
  createdAt: number
  startedAt: number | null
  completedAt: number | null
}

export const sessionEventTypes = [
  'session_created',
  'session_started',
  'session_paused',
  'session_resumed',
  'session_completed',
  'session_failed',
  'session_cancelled',
  'session_restored',
  'agent_added',
  'agent_started',
  'agent_paused',
  'agent_resumed',
  'agent_blocked',
  'agent_unblocked',
  'agent_completed',
  'agent_failed',
  'agent_cancelled',
  'agent_skipped',
  'agent_retried',
  'agent_output',
  'context_set',
  'message_sent',
  'message_read',
] as const
export type SessionEventType = (typeof sessionEventTypes)[number]

/** A line of the audit trail. Ordered by id and never by time: two may share a millisecond. */
export interface SessionEvent {
  id: number
  sessionId: string
  timestamp: number
  eventType: SessionEventType
  agentId: string | null
  data: JsonObject
}

export interface SessionContextEntry {
  sessionId: string
  key: string
  value: JsonText
  updatedBy: string
  updatedAt: number
}

/** From one agent to another. A message to a role is one row for each agent that had the role when it was sent. */
export interface SessionMessage {
  id: number
  sessionId: string
  fromAgentId: string
  toAgentId: string
  /** The role it was addressed to; null when it was addressed to the agent itself. */
  toRole: string | null
  body: JsonText
  sentAt: number
  readAt: number | null
}
