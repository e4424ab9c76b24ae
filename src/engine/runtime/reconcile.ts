import type { HandlerRun } from '../model/handler-run.ts'
import type { Json } from '../model/json.ts'
import type { Mutation } from '../model/mutation.ts'
import type { Clock } from '../ports/clock.ts'
import type { ReconcileOutcome, ToolMethod } from '../ports/tools.ts'
import { sleep, withDeadline } from './deadline.ts'

/** How long to wait before each look: the other side may need a moment to show what it did. */
const waitsMs = [0, 1_000, 2_000, 4_000, 8_000]

/**
 * A request that is still on its way may arrive after the first look: "not there" is believed when it is said twice in a row, or
 * once by a tool that lets nothing arrive any more.
 */
const denialsNeeded = 2

/**
 * Looks whether a mutation of unknown outcome happened. Bounded: a person is asked when the last look does not know either.
 * Looking changes nothing, so dying in between costs nothing.
 */
export const reconcile = async (
  clock: Clock,
  timeoutMs: number,
  method: ToolMethod,
  params: Json,
  run: HandlerRun,
  mutation: Mutation,
): Promise<ReconcileOutcome> => {
  let outcome: ReconcileOutcome = { kind: 'unknown', message: 'It cannot be checked.' }
  if (method.reconcile === undefined) return outcome
  const look = method.reconcile.bind(method)
  const { workflowId, id: handlerRunId } = run
  const { idempotencyKey, createdAt: attemptedAt } = mutation
  let denials = 0
  for (const waitMs of waitsMs) {
    if (waitMs > 0) await sleep(clock, waitMs)
    outcome = await withDeadline<ReconcileOutcome>(
      clock,
      timeoutMs,
      (signal) => look(params, { workflowId, handlerRunId, idempotencyKey, attemptedAt, signal }).catch(unknownBecause),
      () => ({ kind: 'unknown', message: 'The check got no answer.' }),
    )
    if (outcome.kind === 'applied') return outcome
    if (outcome.kind === 'not_applied' && outcome.isFinal) return outcome
    denials = outcome.kind === 'not_applied' ? denials + 1 : 0
    if (denials === denialsNeeded) return outcome
  }
  return outcome.kind === 'unknown' ? outcome : { kind: 'unknown', message: 'The checks contradicted each other.' }
}

const unknownBecause = (thrown: unknown): ReconcileOutcome => ({
  kind: 'unknown',
  message: `The check failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
})
