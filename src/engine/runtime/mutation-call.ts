import { idempotencyKey } from '../machine/idempotency.ts'
import { failure } from '../model/errors.ts'
import type { HandlerRun } from '../model/handler-run.ts'
import type { Json, JsonObject, JsonText } from '../model/json.ts'
import type { LogLine } from '../model/log.ts'
import type { Mutation } from '../model/mutation.ts'
import type { ToolMethod, ToolOutcome, Tools } from '../ports/tools.ts'
import { isValueTooDeep, TOO_DEEP } from '../script/nesting.ts'
import { createAbort } from './abort.ts'
import { callTool, costOf } from './call-tool.ts'
import type { MutationCall } from './phase-host.ts'
import { toInternalFailure } from './phase-host.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import { reservationsOf } from './reservations.ts'
import type { Transitions } from './transitions/index.ts'
import type { PhaseTrace } from './transitions/attempts.ts'
import { noTrace } from './transitions/attempts.ts'

export interface MutationCaller {
  /** From the script's request to the recorded outcome. */
  perform(run: HandlerRun, call: MutationCall, trace: PhaseTrace): Promise<void>
  /** A ledger entry that was found with its attempt: the ledger alone decides how to go on. */
  takeUp(run: HandlerRun, mutation: Mutation): Promise<void>
}

/**
 *   recorded (pending) ─▶ in_flight ─▶ [on disk] ─▶ the call ─▶ applied | failed | indeterminate
 *
 * The call starts only after `in_flight` is on disk: whatever happens then, the next start knows that something may have been
 * sent, and asks.
 */
export const createMutationCaller = (
  { store, clock, tools, durability, crash }: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
): MutationCaller => {
  const perform = async (run: HandlerRun, call: MutationCall, trace: PhaseTrace): Promise<void> => {
    const { method, params, refusal } = call
    const eventIds = store.events.reservedBy(run.id).map(({ id }) => id)
    const mutation = transitions.recordMutation(run, {
      toolNamespace: method.namespace,
      toolMethod: method.method,
      params: JSON.stringify(params),
      idempotencyKey: idempotencyKey(run.workflowId, run.handlerName, eventIds),
    })
    crash.reach('mutation_recorded')
    if (refusal !== null) {
      const touched = reservationsOf(run)
      const evidence = evidenceOf(mutation, method, params)
      transitions.failAttempt(run, { failure: refusal, trace, touched, mutation: { entry: mutation, evidence } })
      return
    }
    await send(run, mutation, method, params, trace)
  }

  const send = async (
    run: HandlerRun,
    mutation: Mutation,
    method: ToolMethod,
    params: Json,
    trace: PhaseTrace,
  ): Promise<void> => {
    transitions.sendMutation(run, mutation)
    crash.reach('mutation_in_flight')
    await durability.barrier()
    crash.reach('mutation_durable')
    // While the disk was written the workflow may have been deleted: then there is nothing left to send.
    const inFlight = store.mutations.get(mutation.id)
    if (inFlight?.status !== 'in_flight') return
    const outcome = await callWithDeadline(method, params, run, inFlight)
    crash.reach('mutation_called')
    settle(run, inFlight, method, params, outcome, { ...trace, cost: trace.cost + costOf(outcome) })
    durability.flushSoon()
    crash.reach('mutation_settled')
  }

  const callWithDeadline = async (
    method: ToolMethod,
    params: Json,
    run: HandlerRun,
    mutation: Mutation,
  ): Promise<ToolOutcome> => {
    const { signal, abort } = createAbort()
    let cancelDeadline = (): void => undefined
    const deadline = new Promise<ToolOutcome>((resolve) => {
      cancelDeadline = clock.wakeAt(clock.now() + options.mutationTimeoutMs, () => {
        resolve(uncertain(`No answer within ${String(options.mutationTimeoutMs / 1000)} s.`))
        abort()
      })
    })
    const { workflowId, idempotencyKey: key } = mutation
    const called = callTool(method, params, { workflowId, handlerRunId: run.id, idempotencyKey: key, signal })
      // A tool that throws has not classified its outcome, and it may have sent something before it threw.
      .catch((thrown: unknown) => uncertain(toInternalFailure(opOf(mutation), thrown).message))
    const outcome = await Promise.race([called, deadline])
    cancelDeadline()
    return outcome
  }

  const settle = (
    run: HandlerRun,
    mutation: Mutation,
    method: ToolMethod,
    params: Json,
    outcome: ToolOutcome,
    trace: PhaseTrace,
  ): void => {
    if (outcome.kind === 'ok') {
      const { text, log } = keepable(opOf(mutation), outcome.value, clock.now())
      transitions.applyMutation(run, mutation, text, { ...trace, logs: [...trace.logs, ...log] })
      return
    }
    const ended = {
      failure: outcome.failure,
      trace,
      touched: reservationsOf(run),
      mutation: { entry: mutation, evidence: evidenceOf(mutation, method, params) },
    }
    if (outcome.certainty === 'definite') transitions.failAttempt(run, ended)
    else transitions.loseOutcome(run, ended)
  }

  const takeUp = async (run: HandlerRun, mutation: Mutation): Promise<void> => {
    const params = JSON.parse(mutation.params) as Json
    const method = tools.find(mutation.toolNamespace, mutation.toolMethod)
    if (mutation.status === 'pending' && method !== undefined) {
      await send(run, mutation, method, params, noTrace)
      return
    }
    if (mutation.status === 'applied') {
      transitions.applyMutation(run, mutation, mutation.result, noTrace)
      return
    }
    const ended = {
      trace: noTrace,
      touched: reservationsOf(run),
      mutation: { entry: mutation, evidence: evidenceOf(mutation, method, params) },
    }
    if (mutation.status === 'in_flight' || mutation.status === 'indeterminate') {
      transitions.loseOutcome(run, { ...ended, failure: failure('network', mutation.error ?? interrupted) })
      return
    }
    const reason = mutation.error ?? `There is no tool ${opOf(mutation)} any more.`
    transitions.failAttempt(run, { ...ended, failure: failure('internal', reason) })
  }

  return { perform, takeUp }
}

export const interrupted = 'The tab was closed or died while the request was on its way.'

/** What was done stays done, also where its answer cannot be kept: then `next` gets null and the log says why. */
const keepable = (op: string, value: Json | undefined, at: number): { text: JsonText | null; log: LogLine[] } => {
  if (value === undefined) return { text: null, log: [] }
  if (!isValueTooDeep(value)) return { text: JSON.stringify(value), log: [] }
  const message = `${op}: its answer ${TOO_DEEP}, so it was not kept. The mutation itself was made.`
  return { text: null, log: [{ at, phase: 'mutating', level: 'warn', message, data: null }] }
}

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
