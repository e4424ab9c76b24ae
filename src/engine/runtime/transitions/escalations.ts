import { isPastBoundary } from '../../machine/phases.ts'
import { engineError } from '../../model/errors.ts'
import type { EngineError } from '../../model/errors.ts'
import type { Escalation, EscalationAction, EscalationKind } from '../../model/escalation.ts'
import type { HandlerRun } from '../../model/handler-run.ts'
import type { Json, JsonText } from '../../model/json.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import { unblockAgent } from './agents.ts'
import { advance, moveStatus } from './attempts.ts'
import type { Transition } from './context.ts'
import { mustExist } from './context.ts'
import { releaseEvents } from './events.ts'
import { moveMutation } from './mutation.ts'
import { reopenScriptRun } from './script-runs.ts'

type Settle = (transition: Transition, run: HandlerRun, escalation: Escalation, value: JsonText | null) => void

/** One open question, one answer, one effect: whoever answers second is told so. */
export const resolveEscalation = (
  transition: Transition,
  id: string,
  action: EscalationAction,
  value: JsonText | null,
): Result<Escalation> => {
  const { tx, now } = transition
  const escalation = tx.escalations.get(id)
  if (escalation === undefined) return err(engineError('not_found', `There is no escalation "${id}".`))
  const refused = refusal(escalation, action)
  if (refused !== null) return err(refused)
  const run = mustExist(tx.handlerRuns.get(escalation.handlerRunId), `Handler run ${escalation.handlerRunId}`)
  tx.escalations.resolve(id, action, value, now)
  tx.workflows.setBlock(escalation.workflowId, null, now)
  unblockAgent(transition, escalation.workflowId)
  settlerOf(escalation.kind, action)(transition, run, escalation, value)
  return ok(escalation)
}

const refusal = (escalation: Escalation, action: EscalationAction): EngineError | null => {
  if (escalation.resolvedAt !== null) {
    return engineError(
      'already_resolved',
      `This was settled already, with "${String(escalation.resolution)}". Nothing was changed.`,
    )
  }
  if (escalation.actions.includes(action)) return null
  const choices = escalation.actions.map((name) => `"${name}"`).join(', ')
  return engineError('invalid_input', `"${action}" does not settle a ${escalation.kind}; choose one of ${choices}.`)
}

const settlerOf = (kind: EscalationKind, action: EscalationAction): Settle => {
  if (action === 'skip') return kind === 'indeterminate_mutation' ? leaveOutcomeOpen : skipEvents
  return settlers[action]
}

const confirmMutation: Settle = (transition, run, _escalation, value) => {
  const mutation = mutationOf(transition, run)
  moveMutation(transition, mutation, 'confirmed', {
    result: value,
    resolvedBy: 'user_happened',
    resolvedAt: transition.now,
  })
  goOn(transition, run, { mutationOutcome: 'applied', mutationResult: value })
}

const leaveOutcomeOpen: Settle = (transition, run) => {
  const mutation = mutationOf(transition, run)
  moveMutation(transition, mutation, 'left_open', { resolvedBy: 'user_skip', resolvedAt: transition.now })
  goOn(transition, run, { mutationOutcome: 'skipped' })
}

const denyMutation: Settle = (transition, run, escalation, value) => {
  const mutation = mutationOf(transition, run)
  moveMutation(transition, mutation, 'denied', { resolvedBy: 'user_did_not_happen', resolvedAt: transition.now })
  releaseEvents(transition, run)
  retryNow(transition, run, escalation, value)
}

/** The attempt goes back to where it was; its step finds the open entry in the ledger and looks once more. */
const checkAgain: Settle = (transition, run) => {
  reopenScriptRun(transition, run.scriptRunId)
  transition.tx.handlerRuns.update(run.id, { status: moveStatus(run, 'check_begun'), endTimestamp: null })
}

const retryNow: Settle = ({ tx, now }, run) => {
  tx.handlerRuns.update(run.id, { retryAt: now })
}

const grantAndRetry: Settle = (transition, run, escalation, value) => {
  const { tx, now } = transition
  const workflow = mustExist(tx.workflows.get(run.workflowId), `Workflow ${run.workflowId}`)
  const granted = new Set([...workflow.permissions, ...textsOf(escalation.details['neededPermissions'])])
  tx.workflows.setPermissions(workflow.id, [...granted], now)
  retryNow(transition, run, escalation, value)
}

/** Before the boundary the events were given back, so they are skipped by name; after it the run still holds them. */
const skipEvents: Settle = (transition, run, escalation) => {
  const { tx, note } = transition
  if (isPastBoundary(run)) tx.events.settleReserved(run.id, 'skipped')
  else tx.events.skipPending(touchedEventIds(transition, escalation))
  note({ kind: 'consumer_stopped', workflowId: run.workflowId, handlerName: run.handlerName })
}

const settlers: Readonly<Record<Exclude<EscalationAction, 'skip'>, Settle>> = {
  happened: confirmMutation,
  did_not_happen: denyMutation,
  retry: retryNow,
  reconnect: retryNow,
  grant: grantAndRetry,
  check_again: checkAgain,
}

const mutationOf = ({ tx }: Transition, run: HandlerRun) =>
  mustExist(tx.mutations.ofHandlerRun(run.id), `The mutation of ${run.id}`)

const goOn = (
  transition: Transition,
  run: HandlerRun,
  outcome: Pick<HandlerRun, 'mutationOutcome'> & Partial<Pick<HandlerRun, 'mutationResult'>>,
): void => {
  reopenScriptRun(transition, run.scriptRunId)
  const status = moveStatus(run, 'outcome_settled')
  advance(transition, run, 'mutation_settled', { ...outcome, status, endTimestamp: null })
}

const touchedEventIds = ({ tx }: Transition, escalation: Escalation): string[] => {
  const touched = escalation.details['events']
  if (!Array.isArray(touched)) return []
  return touched.flatMap((entry) => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry) || typeof entry['topic'] !== 'string')
      return []
    return tx.events.getByMessageIds(escalation.workflowId, entry['topic'], textsOf(entry['ids'])).map(({ id }) => id)
  })
}

const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
