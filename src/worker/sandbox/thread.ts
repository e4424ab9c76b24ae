import type { Failure } from '#engine/model/errors.ts'
import type { Result } from '#engine/model/result.ts'
import type { PhaseOutcome, WorkflowShape } from '#engine/ports/sandbox.ts'
import type { Delivery, HostCall, PostedJob } from './phase-link.ts'

export type MemoryKind = 'snapshot' | 'fresh'

/** How a phase ended inside its thread: by an outcome, or by asking for a mutation, whose answer it does not wait for. */
export type PhaseEnding = { outcome: PhaseOutcome } | { lastCall: HostCall }

export interface LoggedLine {
  level: string
  message: string
}

/** What came of a phase that was run ahead. */
export interface AheadResult {
  /** Null when it wanted something that only its host can tell: then it is run again, in its turn. */
  ending: PhaseEnding | null
  logs: readonly LoggedLine[]
  tookForeseen: boolean
  /** Calls that it has its answer to already, for the host to be told of. */
  noted?: readonly HostCall[]
  /** The time that it looked at, if it did. */
  sawTime?: number
}

/** What the supervisor says. One phase at a time, and `boot` before all else. */
export type ToThread =
  | { type: 'boot'; wasm: WebAssembly.Module; memory: MemoryKind }
  | {
      type: 'phase'
      job: PostedJob
      /** A script that will not be spoken of without its code again. */ forget?: string
    }
  | { type: 'describe'; code: string }
  | { type: 'reply'; delivery: Delivery }
  | { type: 'ping' }

/** What a sandbox thread says. All calls of a turn come in one message, log lines as they are written. */
export type FromThread =
  | { type: 'ready' }
  | { type: 'loaded' }
  /** It waits for a reply unless one of those already sent is still to be taken. */
  | { type: 'turn'; calls: readonly HostCall[]; taken: number; tookForeseen?: boolean; noted?: readonly HostCall[] }
  /** It goes on computing: these need no answer, and there are too many to keep. */
  | { type: 'noted'; noted: readonly HostCall[] }
  | { type: 'log'; level: string; message: string }
  | {
      type: 'done'
      ending: PhaseEnding
      tookForeseen?: boolean
      noted?: readonly HostCall[]
      /** It goes on with what follows, and says `ahead` as it comes along. */
      goesOn?: boolean
    }
  | { type: 'ahead'; results: readonly AheadResult[]; isLast: boolean }
  | { type: 'described'; shape: Result<WorkflowShape | null, Failure> }
  | { type: 'pong' }
  /** A mistake of ours: whatever this thread was doing, it will not come back to it. */
  | { type: 'broken'; message: string }

/** A thread that can be ended at any moment: a nested worker in the browser, a worker thread in Node. */
export interface SandboxThread {
  post(message: ToThread): void
  terminate(): void
}

export interface ThreadListener {
  message(message: FromThread): void
  /** It does not load, or died by itself. */
  failed(message: string): void
}

export type SpawnThread = (listener: ThreadListener) => SandboxThread
