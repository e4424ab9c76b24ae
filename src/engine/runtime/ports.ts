import type { Clock } from '../ports/clock.ts'
import type { Compression } from '../ports/compression.ts'
import type { CrashPoints } from '../ports/crash-point.ts'
import type { Durability } from '../ports/durability.ts'
import type { Ids } from '../ports/ids.ts'
import type { Sandbox, SandboxLimits } from '../ports/sandbox.ts'
import type { Space } from '../ports/space.ts'
import type { Store } from '../ports/store.ts'
import type { Tools } from '../ports/tools.ts'

/** Everything the engine needs from outside. */
export interface EnginePorts {
  store: Store
  clock: Clock
  ids: Ids
  sandbox: Sandbox
  tools: Tools
  durability: Durability
  crash: CrashPoints
  compression: Compression
  space: Space
}

export interface EngineOptions {
  /** Workflows that may have a handler running at the same time. */
  maxParallelWorkflows: number
  /** How long an outside mutation may take before its outcome counts as unknown. */
  mutationTimeoutMs: number
  maxPublishesPerAttempt: number
  maxStateBytes: number
  limits: Partial<SandboxLimits>
}

export const defaultOptions: EngineOptions = {
  maxParallelWorkflows: 8,
  mutationTimeoutMs: 60_000,
  maxPublishesPerAttempt: 10_000,
  maxStateBytes: 1024 * 1024,
  limits: {},
}
