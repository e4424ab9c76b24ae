import { engineError } from '../model/errors.ts'
import type { Escalation } from '../model/escalation.ts'
import type { HandlerRun } from '../model/handler-run.ts'
import type { LogLine } from '../model/log.ts'
import type { Mutation } from '../model/mutation.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { ScriptRun } from '../model/script-run.ts'
import type { StoreReads } from '../ports/store.ts'
import { parseEscalationFilter, parseId } from './command-input.ts'
import type { Scheduler } from './scheduler.ts'
import type { WorkflowView } from './workflow-view.ts'
import { workflowState } from './workflow-view.ts'

export interface RunDetail extends ScriptRun {
  handlerRuns: (HandlerRun & { mutation: Mutation | null })[]
  logs: (LogLine & { handlerRunId: string })[]
}

export const createQueries = (store: StoreReads, scheduler: Scheduler) => {
  /** The private workflows of agents are shown with their sessions, unless asked for. */
  const listWorkflows = ({ ofAgents = false }: { ofAgents?: boolean } = {}): WorkflowView[] => {
    const workflows = store.workflows.list().filter(({ sessionId }) => ofAgents || sessionId === null)
    const pending = new Map<string, number>()
    for (const { workflowId, pending: count } of store.events.pendingByTopic(workflows.map(({ id }) => id))) {
      pending.set(workflowId, (pending.get(workflowId) ?? 0) + count)
    }
    return workflows.map((workflow) => {
      const awaiting = store.handlerRuns.awaitingRetry(workflow.id)
      const planned = [
        ...store.producerSchedules.forWorkflow(workflow.id).map(({ nextRunAt }) => nextRunAt),
        ...store.handlerStates.forWorkflow(workflow.id).flatMap(({ wakeAt }) => (wakeAt === null ? [] : [wakeAt])),
        ...awaiting.flatMap(({ retryAt }) => (retryAt === null ? [] : [retryAt])),
      ]
      const mayWake = workflow.status === 'active' && workflow.block === null && planned.length > 0
      return {
        id: workflow.id,
        name: workflow.name,
        status: workflow.status,
        state: workflowState(workflow, scheduler.isBusy(workflow.id), awaiting),
        block: workflow.block,
        version: workflow.activeVersion,
        permissions: workflow.permissions,
        nextWakeAt: mayWake ? Math.min(...planned) : null,
        pendingEvents: pending.get(workflow.id) ?? 0,
      }
    })
  }

  const getRun = (wanted: string): Result<RunDetail> => {
    const id = parseId('a run', wanted)
    if (!id.ok) return id
    const runId = id.value
    const run = store.scriptRuns.get(runId)
    if (run === undefined) return err(engineError('not_found', `There is no run "${runId}".`))
    const handlerRuns = store.handlerRuns
      .listByScriptRun(runId)
      .map((attempt) => ({ ...attempt, mutation: store.mutations.ofHandlerRun(attempt.id) ?? null }))
    return ok({ ...run, handlerRuns, logs: store.logs.ofScriptRun(runId) })
  }

  const listEscalations = (filter: { open?: boolean } = {}): Result<Escalation[]> => {
    const parsed = parseEscalationFilter(filter)
    return parsed.ok ? ok(store.escalations.list(parsed.value)) : parsed
  }

  return { listWorkflows, getRun, listEscalations }
}
