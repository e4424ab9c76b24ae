import { decideMove } from '../../machine/move-table.ts'
import type { PhaseEvent } from '../../machine/phases.ts'
import type { MutationEvent } from '../../machine/statuses.ts'
import { mutationTable } from '../../machine/statuses.ts'
import type { HandlerRun } from '../../model/handler-run.ts'
import type { JsonText } from '../../model/json.ts'
import type { Mutation, MutationResolver } from '../../model/mutation.ts'
import type { MutationPatch } from '../../ports/store.ts'
import type { PhaseTrace } from './attempts.ts'
import { advance, ensureUnchanged, isGoingOn } from './attempts.ts'
import type { Transition } from './context.ts'
import { must } from './context.ts'

export type MutationRequest = Pick<Mutation, 'toolNamespace' | 'toolMethod' | 'params' | 'idempotencyKey'>

/**
 * The ledger knows of it before anybody outside does. One that is going to be sent is `in_flight` from the start; one that is
 * refused stays `pending` until its attempt ends.
 */
export const recordMutation = (
  transition: Transition,
  run: HandlerRun,
  request: MutationRequest,
  status: 'pending' | 'in_flight',
): Mutation => {
  // While the script ran, the attempt may have been cancelled: then nothing of it may reach the world.
  ensureUnchanged(transition, run)
  const { tx, now, ids } = transition
  const mutation: Mutation = {
    ...request,
    id: ids.next('mut'),
    handlerRunId: run.id,
    workflowId: run.workflowId,
    status,
    result: null,
    error: null,
    resolvedBy: null,
    resolvedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  tx.mutations.insert(mutation)
  return mutation
}

export const sendMutation = (transition: Transition, run: HandlerRun, mutation: Mutation): void => {
  ensureUnchanged(transition, run)
  moveMutation(transition, mutation, 'sent')
}

export const moveMutation = (
  { tx, now }: Transition,
  mutation: Mutation,
  event: MutationEvent,
  patch: Omit<MutationPatch, 'status'> = {},
): void => {
  tx.mutations.update(mutation.id, { ...patch, status: must(decideMove(mutationTable, mutation.status, event)) }, now)
}

/** `in_flight → applied` and `mutating → mutated` are one step: nobody ever sees one without the other. */
export const applyMutation = (
  transition: Transition,
  run: HandlerRun,
  mutation: Mutation,
  result: JsonText | null,
  trace: PhaseTrace,
  resolvedBy: MutationResolver | null = null,
): void => {
  // Before the ledger is touched: of a workflow that was deleted meanwhile there is no entry any more.
  ensureUnchanged(transition, run)
  if (mutation.status !== 'applied') {
    const event = mutation.status === 'indeterminate' ? 'confirmed' : 'succeeded'
    moveMutation(transition, mutation, event, { result, ...resolution(transition, resolvedBy) })
  }
  const outcome = { mutationOutcome: 'applied', mutationResult: result } as const
  advance(transition, run, settled(transition, run), outcome, trace)
}

/** Who settled what the call itself left open. */
export const resolution = ({ now }: Transition, resolvedBy: MutationResolver | null): Omit<MutationPatch, 'status'> =>
  resolvedBy === null ? {} : { resolvedBy, resolvedAt: now }

export const passWithoutMutation = (transition: Transition, run: HandlerRun, trace: PhaseTrace): void => {
  advance(transition, run, settled(transition, run), { mutationOutcome: 'none' }, trace)
}

/** `next` is due at once, unless the workflow was paused meanwhile. */
const settled = (transition: Transition, run: HandlerRun): readonly PhaseEvent[] =>
  isGoingOn(transition, run) ? ['mutation_settled', 'emit_begun'] : ['mutation_settled']
