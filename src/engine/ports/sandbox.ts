import type { Failure, SourcePosition } from '../model/errors.ts'
import type { Json, JsonText } from '../model/json.ts'
import type { Result } from '../model/result.ts'

export const scriptPhases = ['producer', 'prepare', 'mutate', 'next'] as const
/** The four places where user code runs. */
export type ScriptPhase = (typeof scriptPhases)[number]

export interface ScriptProblem {
  severity: 'error' | 'warning'
  message: string
  line: number
  column: number
}

/** TypeScript stripped, lines preserved, and where each part of the workflow object stands in the user's source. */
export interface CompiledScript {
  code: string
  /** Position of a path such as `producers.pollEmail.schedule`; of the nearest enclosing part when it is not written out. */
  positionOf(path: readonly string[]): SourcePosition
  /** What does not keep the script from being run but is wrong with its text, such as a handler that is written twice. */
  problems?: readonly ScriptProblem[]
}

export interface SandboxLimits {
  cpuMs: number
  /** Units of about 10,000 steps: unlike time the same on every machine. */
  fuel: number
  wallMs: number
  memoryBytes: number
  stackBytes: number
  valueBytes: number
  stateBytes: number
  logLines: number
  logBytes: number
  errorChars: number
  hostCallsInFlight: number
}

/** What the host answers to one call of the script. `end` is for mutations: the script is over, nothing after the call runs. */
export type HostReply =
  { kind: 'value'; value: JsonText | undefined } | { kind: 'error'; failure: Failure } | { kind: 'end' }

/**
 * The host's side of one phase. All calls that the script has queued in one turn are handed over synchronously, one after
 * the other, before any reply is taken: that is how two mutations started at once are seen as two.
 */
export interface PhaseHost {
  /** `op` is the dotted path below `ctx`: `topics.peek`, `http.post`, `demo.inbox.list`; `args` a JSON array. */
  call(op: string, args: JsonText, signal: AbortSignalLike): Promise<HostReply>
  log(level: string, message: string): void
  /** The one clock and the one source of randomness a script can see; recorded, so that a phase can be replayed exactly. */
  now(): number
  random(): number
  /** What `call` would answer at this moment, with nothing of it noted yet. Undefined where that cannot be told. */
  foresee?(op: string, args: JsonText, beyond?: number): ForeseenAnswer | undefined
}

export interface ForeseenAnswer {
  value: JsonText
  /** The script did ask, and this is what it was told. */
  taken(): void
  /** What the answer was made of, and as many events `beyond` it as were asked for. */
  look: TopicLook
}

/** A look at a topic: its answer is the first events of those that wait, at most `limit` of them. */
export interface TopicLook {
  topic: string
  limit: number
  events: readonly { id: string; text: JsonText }[]
  /** Nothing more waits. */
  isAll: boolean
}

/** The part of AbortSignal that the engine relies on; the engine itself has no DOM types. */
export interface AbortSignalLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * What will be asked for after a phase if nothing comes between: the next phases of its handler, attempt after attempt. They may be
 * run ahead: a phase does nothing by itself, and what it asks for is asked when it is its turn.
 */
export interface FollowingPhases {
  hasMutate: boolean
  hasNext: boolean
  /** The state that the attempt began with. The one after it begins with the same where `next` returns none. */
  state: JsonText
  /** What the host of `prepare` would answer if it were asked for at this moment. A `prepare` is not worth running without. */
  foresee?: PhaseHost['foresee'] | undefined
  /** Of `next`. */
  publishing?: Publishing | undefined
}

/**
 * What decides whether `topics.publish` is in order. The host only takes note of it, so a script need not wait for the host to say
 * so; all the same the host is told of each, in order, and looks again.
 */
export interface Publishing {
  topics: readonly string[]
  most: number
}

export interface PhaseRequest {
  workflowId: string
  /** Names the compiled code in caches: the same id always means the same code. */
  scriptId: string
  code: string
  phase: ScriptPhase
  handler: string
  /** JSON text of each argument before `ctx`. */
  args: readonly JsonText[]
  /** Operations that exist on `ctx` in this phase, as dotted paths; everything else is simply not there. */
  operations: readonly string[]
  /** Those of them that end their phase when they are called alone. */
  mutations?: readonly string[]
  then?: FollowingPhases
  publishing?: Publishing
  /** Plain values on `ctx`, such as `session`. */
  values?: Readonly<Record<string, Json>>
  limits?: Partial<SandboxLimits>
  host: PhaseHost
}

export type PhaseOutcome =
  | { kind: 'returned'; value: JsonText | undefined }
  /** The host ended the script through `{ kind: 'end' }`. */
  | { kind: 'ended' }
  /** Thrown by the script, a limit hit, a deadlock, a bad return value; a host error that was not caught keeps its class. */
  | { kind: 'failed'; failure: Failure }

/** What a script's workflow object looks like from outside: functions are `{ "$function": true }`, the rest is plain JSON. */
export type WorkflowShape = Json

export interface Sandbox {
  /** Strips types and finds positions; syntax errors come back as problems. */
  compile(source: string): Promise<Result<CompiledScript, ScriptProblem[]>>
  /** Evaluates the script with no tools and returns the shape of its workflow object, null when it has none. */
  describe(script: CompiledScript): Promise<Result<WorkflowShape | null, Failure>>
  /** Runs one phase in clean memory. Never rejects for anything a script can do. */
  runPhase(request: PhaseRequest): Promise<PhaseOutcome>
  /**
   * For sandboxes that run phases ahead: what `runPhase` would answer, if it is here already; undefined when the phase has to be
   * run. Taking it uses it up. Whatever the phase asked its host for, the host was asked when this returns.
   */
  takeAtHand?(request: PhaseRequest): PhaseOutcome | undefined
}
