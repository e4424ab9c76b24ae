import type { Failure } from '../model/errors.ts'
import type { Json } from '../model/json.ts'
import type { Result } from '../model/result.ts'
import type { AbortSignalLike } from './sandbox.ts'

/**
 * How a call ended, classified by the tool itself. `definite`: the other side certainly did not do it. `uncertain`: it may
 * have. For a read the difference does not matter; for a mutation it decides whether a person is asked.
 */
export type ToolOutcome =
  | { kind: 'ok'; value: Json | undefined; cost?: number }
  | { kind: 'failed'; certainty: 'definite' | 'uncertain'; failure: Failure; cost?: number }

/** `isFinal`: the tool has seen to it that it cannot happen any more either. Otherwise what is on its way may still arrive. */
export type ReconcileOutcome =
  | { kind: 'applied'; value: Json | undefined }
  | { kind: 'not_applied'; isFinal?: true }
  | { kind: 'unknown'; message: string }

export interface ToolCall {
  workflowId: string
  handlerRunId: string
  /** Only for mutations. */
  idempotencyKey: string | null
  signal: AbortSignalLike
}

/** One of which nobody knows what came of it. */
export interface DoubtfulCall extends ToolCall {
  /** When it was entered in the ledger. */
  attemptedAt: number
}

export interface ToolMethod {
  namespace: string
  /** Below the namespace, dotted: `post`, `inbox.list`. */
  method: string
  kind: 'read' | 'mutation'
  /** A call may cost money: it is refused once the workflow has spent what it may in a day. */
  isCharged?: boolean
  /** For people: "Send a POST request". */
  title: string
  /** Checks the arguments before anything is recorded or sent; the message says which one is wrong and how. */
  parse(args: readonly Json[]): Result<Json, string>
  /** The permissions this call needs, such as `http:api.example.com`; empty when it needs none. */
  permissionsFor(params: Json): string[]
  call(params: Json, call: ToolCall): Promise<ToolOutcome>
  /** Finds out after the fact whether a mutation happened. Without it an uncertain outcome goes to a person at once. */
  reconcile?(params: Json, call: DoubtfulCall): Promise<ReconcileOutcome>
  /** Where a person can look to see whether it happened. */
  whereToCheck?(params: Json): string
}

export interface Tools {
  find(namespace: string, method: string): ToolMethod | undefined
  list(): readonly ToolMethod[]
  /** Whether one granted permission covers one that is needed (`http:*.example.com` covers `http:api.example.com`). */
  covers(granted: string, needed: string): boolean
}
