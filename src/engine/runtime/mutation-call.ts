import { idempotencyKey } from '../machine/idempotency.ts'
import { isPastBoundary } from '../machine/phases.ts'
import type { Failure } from '../model/errors.ts'
import { failure, OwnershipLost } from '../model/errors.ts'
import type { HandlerRun } from '../model/handler-run.ts'
import type { Json, JsonObject, JsonText } from '../model/json.ts'
import type { LogLine } from '../model/log.ts'
import type { Mutation, MutationResolver } from '../model/mutation.ts'
import type { ReconcileOutcome, ToolMethod, ToolOutcome, Tools } from '../ports/tools.ts'
import { isValueTooDeep, TOO_DEEP } from '../script/nesting.ts'
import { callTool, costOf } from './call-tool.ts'
import { mutationsUsedUp, usedUpFailure } from './daily-limits.ts'
import { withDeadline } from './deadline.ts'
import type { MutationCall } from './phase-host.ts'
import { toInternalFailure } from './phase-host.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import { reconcile } from './reconcile.ts'
import { reservationsOf } from './reservations.ts'
import type { Later, Settle } from './steps/step.ts'
import type { Transitions } from './transitions/index.ts'
import type { PhaseTrace } from './transitions/attempts.ts'
import { noTrace } from './transitions/attempts.ts'

export interface MutationCaller {
  /** From the script's request to the recorded outcome. */
  perform(run: HandlerRun, call: MutationCall, trace: PhaseTrace): Later | undefined
  /** A ledger entry that was found with its attempt: the ledger alone decides how to go on. */
  takeUp(run: HandlerRun, mutation: Mutation): Later | undefined
}

/**
 *   recorded as in_flight ─▶ [on disk] ─▶ the call ─▶ applied | failed | indeterminate
 *
 * The call starts only after `in_flight` is on disk: whatever happens then, the next start knows that something may have been
 * sent, and asks.
 */
export const createMutationCaller = (
  { store, clock, tools, durability, crash }: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
): MutationCaller => {
  /** The handler was not started with the limit used up, but it may have been lowered since. */
  const overLimit = (run: HandlerRun): Failure | null => {
    const usedUp = mutationsUsedUp(store, run.workflowId, clock.now())
    return usedUp && usedUpFailure(usedUp, clock.now())
  }

  const perform = (run: HandlerRun, asked: MutationCall, trace: PhaseTrace): Later | undefined => {
    const { method, params } = asked
    const refusal = asked.refusal ?? overLimit(run)
    const eventIds = store.events.reservedIds(run.id)
    const request = {
      toolNamespace: method.namespace,
      toolMethod: method.method,
      params: JSON.stringify(params),
      idempotencyKey: idempotencyKey(run.workflowId, run.handlerName, eventIds),
    }
    if (refusal !== null) {
      const refused = transitions.recordMutation(run, request, 'pending')
      transitions.failAttempt(run, { ...endOf(run, refused, method, params), failure: refusal, trace })
      return undefined
    }
    return call(run, transitions.recordMutation(run, request, 'in_flight'), method, params, trace)
  }

  /** The ledger says `in_flight`; as soon as the disk says so too, the call is made. */
  const call = (run: HandlerRun, mutation: Mutation, method: ToolMethod, params: Json, trace: PhaseTrace): Later => {
    crash.reach('mutation_in_flight')
    return async () => {
      await durability.barrier().catch((cause: unknown) => {
        throw new OwnershipLost('Another tab has taken over: this engine has stopped.', { cause })
      })
      crash.reach('mutation_durable')
      // While the disk was written the workflow may have been deleted: then there is nothing left to send.
      const inFlight = store.mutations.get(mutation.id)
      if (inFlight?.status !== 'in_flight') return () => undefined
      const outcome = await callWithDeadline(method, params, run, inFlight)
      crash.reach('mutation_called')
      const spent = { ...trace, cost: trace.cost + costOf(outcome) }
      return thenFlush(() => settle(run, inFlight, method, params, outcome, spent))
    }
  }

  /** As soon as nothing of the outcome is left to wait for. */
  const thenFlush =
    (write: Settle): Settle =>
    () => {
      const later = write()
      if (later !== undefined) return async () => thenFlush(await later())
      durability.flushSoon()
      crash.reach('mutation_settled')
      return undefined
    }

  const callWithDeadline = (
    method: ToolMethod,
    params: Json,
    run: HandlerRun,
    mutation: Mutation,
  ): Promise<ToolOutcome> => {
    const { workflowId, idempotencyKey: key } = mutation
    return withDeadline(
      clock,
      options.mutationTimeoutMs,
      (signal) =>
        callTool(method, params, { workflowId, handlerRunId: run.id, idempotencyKey: key, signal })
          // A tool that throws has not classified its outcome, and it may have sent something before it threw.
          .catch((thrown: unknown) => uncertain(toInternalFailure(opOf(mutation), thrown).message)),
      () => uncertain(`No answer within ${String(options.mutationTimeoutMs / 1000)} s.`),
    )
  }

  const settle = (
    run: HandlerRun,
    mutation: Mutation,
    method: ToolMethod,
    params: Json,
    outcome: ToolOutcome,
    trace: PhaseTrace,
  ): Later | undefined => {
    if (outcome.kind !== 'ok' && outcome.certainty === 'uncertain') {
      return checkOrAsk(run, mutation, method, params, outcome.failure, trace)
    }
    if (outcome.kind === 'ok') apply(run, mutation, outcome.value, trace)
    else transitions.failAttempt(run, { ...endOf(run, mutation, method, params), failure: outcome.failure, trace })
    return undefined
  }

  const apply = (
    run: HandlerRun,
    mutation: Mutation,
    value: Json | undefined,
    trace: PhaseTrace,
    resolvedBy?: MutationResolver,
  ): void => {
    const { text, log } = keepable(opOf(mutation), value, clock.now())
    transitions.applyMutation(run, mutation, text, { ...trace, logs: [...trace.logs, ...log] }, resolvedBy)
  }

  /** A tool that can look whether it happened is asked first; a person only where it cannot tell. */
  const checkOrAsk = (
    run: HandlerRun,
    mutation: Mutation,
    method: ToolMethod | undefined,
    params: Json,
    reason: Failure,
    trace: PhaseTrace,
    wasInterrupted = false,
  ): Later | undefined => {
    const ended = { ...endOf(run, mutation, method, params), trace }
    if (method?.reconcile === undefined) {
      transitions.loseOutcome(run, { ...ended, failure: reason })
      return undefined
    }
    const heed = (found: ReconcileOutcome): void => {
      if (found.kind === 'applied') apply(run, mutation, found.value, trace, 'reconciled')
      else if (found.kind === 'not_applied' && wasInterrupted) {
        // Nobody refused it and no server was slow: it can be tried again at once.
        transitions.crashAttempt(run, mutation)
      } else if (found.kind === 'not_applied') {
        const message = `${reason.message} A check showed that it did not happen.`
        transitions.failAttempt(run, { ...ended, failure: failure('network', message), resolvedBy: 'reconciled' })
      } else {
        const message = `${reason.message} Checking did not help: ${found.message}`
        transitions.loseOutcome(run, { ...ended, failure: { ...reason, message } })
      }
    }
    return async () => {
      const found = await reconcile(clock, options.mutationTimeoutMs, method, params, run, mutation)
      crash.reach('mutation_reconciled')
      return () => {
        heed(found)
        return undefined
      }
    }
  }

  const takeUp = (run: HandlerRun, mutation: Mutation): Later | undefined => {
    const params = JSON.parse(mutation.params) as Json
    const method = tools.find(mutation.toolNamespace, mutation.toolMethod)
    if (mutation.status === 'pending' && method !== undefined) {
      transitions.sendMutation(run, mutation)
      return call(run, mutation, method, params, noTrace)
    }
    if (mutation.status === 'applied') {
      transitions.applyMutation(run, mutation, mutation.result, noTrace)
      return undefined
    }
    if (mutation.status === 'in_flight' || mutation.status === 'indeterminate') {
      const reason = failure('network', mutation.error ?? interrupted)
      return checkOrAsk(run, mutation, method, params, reason, noTrace, mutation.status === 'in_flight')
    }
    const reason = mutation.error ?? `There is no tool ${opOf(mutation)} any more.`
    transitions.failAttempt(run, {
      ...endOf(run, mutation, method, params),
      trace: noTrace,
      failure: failure('internal', reason),
    })
    return undefined
  }

  return { perform, takeUp }
}

export const interrupted = 'The tab was closed or died while the request was on its way.'

/**
 * Whether something may have been sent of which nobody knows what came of it. One that a person chose to skip stays
 * `indeterminate` for ever, but it is no question any more: its attempt is past the boundary.
 */
export const hasOpenOutcome = (
  run: HandlerRun,
  mutation: Mutation | undefined,
): mutation is Mutation & { status: 'in_flight' | 'indeterminate' } =>
  !isPastBoundary(run) && (mutation?.status === 'in_flight' || mutation?.status === 'indeterminate')

/** What was done stays done, also where its answer cannot be kept: then `next` gets null and the log says why. */
const keepable = (op: string, value: Json | undefined, at: number): { text: JsonText | null; log: LogLine[] } => {
  if (value === undefined) return { text: null, log: [] }
  if (!isValueTooDeep(value)) return { text: JSON.stringify(value), log: [] }
  const message = `${op}: its answer ${TOO_DEEP}, so it was not kept. The mutation itself was made.`
  return { text: null, log: [{ at, phase: 'mutating', level: 'warn', message, data: null }] }
}

/** What every way to end an attempt together with its mutation says of the two. */
const endOf = (run: HandlerRun, entry: Mutation, method: ToolMethod | undefined, params: Json) => ({
  touched: reservationsOf(run),
  mutation: { entry, evidence: evidenceOf(entry, method, params) },
})

const uncertain = (message: string): ToolOutcome => ({
  kind: 'failed',
  certainty: 'uncertain',
  failure: failure('network', message),
})

const opOf = (mutation: Mutation): string => `${mutation.toolNamespace}.${mutation.toolMethod}`

/** What a person needs to find out whether it happened: the host's own record, never the script's words. */
const evidenceOf = (mutation: Mutation, method: ToolMethod | undefined, params: Json): JsonObject => ({
  tool: opOf(mutation),
  title: method?.title ?? opOf(mutation),
  params,
  idempotencyKey: mutation.idempotencyKey,
  whereToCheck: whereToCheck(method, params),
  canCheckAgain: method?.reconcile !== undefined,
  attemptedAt: mutation.createdAt,
})

/** The same from the ledger alone. */
export const recordedEvidence = (tools: Tools, mutation: Mutation): JsonObject =>
  evidenceOf(mutation, tools.find(mutation.toolNamespace, mutation.toolMethod), JSON.parse(mutation.params) as Json)

/** Advice that a tool fails to give must not cost the rest of the evidence. */
const whereToCheck = (method: ToolMethod | undefined, params: Json): string | null => {
  try {
    return method?.whereToCheck?.(params) ?? null
  } catch {
    return null
  }
}
