import type { Json, JsonObject } from './json.ts'
import type { FailurePolicy, SessionStrategy } from './session.ts'

/** A session as somebody asks for it. It comes from scripts on the page too, which no compiler has looked at. */
export interface SessionRequest {
  objective: string
  strategy: SessionStrategy
  agents: readonly AgentRequest[]
  /** `stop` unless told otherwise. */
  onFailure?: FailurePolicy
  /** No limit unless told otherwise. */
  maxParallel?: number
  metadata?: JsonObject
}

export interface AgentRequest {
  /** What the others call it: unique in its session. */
  key: string
  role: string
  /** A sentence, or whatever its script understands. */
  task: Json
  source: string
  /** Keys of the agents that must be complete before it starts. */
  dependsOn?: readonly string[]
  stage?: number
}
