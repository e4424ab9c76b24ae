import { engineError } from '../model/errors.ts'
import type { Escalation } from '../model/escalation.ts'
import type { HandlerRun } from '../model/handler-run.ts'
import type { LogLine } from '../model/log.ts'
import type { Mutation } from '../model/mutation.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { ScriptRun } from '../model/script-run.ts'
import type { Workflow } from '../model/workflow.ts'
import type { StoreReads } from '../ports/store.ts'
import { parseEscalationFilter, parseId } from './command-input.ts'
import type { Scheduler } from './scheduler.ts'
import type { WorkflowView } from './workflow-view.ts'
import { workflowState } from './workflow-view.ts'

export interface RunDetail extends ScriptRun {
  handlerRuns: (HandlerRun & { mutation: Mutation | null })[]
  logs: (LogLine & { handlerRunId: string })[]
}

export const createQueries = (store: StoreReads, scheduler: Pick<Scheduler, 'isBusy'>) => {
  /** The private workflows of agents are shown with their sessions, unless asked for. */
  const listWorkflows = ({ ofAgents = false }: { ofAgents?: boolean } = {}): WorkflowView[] =>
    viewsOf(store.workflows.list().filter(({ sessionId }) => ofAgents || sessionId === null))

  const viewWorkflow = (id: string): WorkflowView | undefined => {
    const workflow = store.workflows.get(id)
    return workflow && viewsOf([workflow])[0]
  }

  /** One look-up for all their times and one for all their events, however many there are. */
  const viewsOf = (workflows: readonly Workflow[]): WorkflowView[] => {
    const ids = workflows.map(({ id }) => id)
    const times = new Map(store.workflows.plannedTimes(ids).map((planned) => [planned.workflowId, planned]))
    const pending = new Map<string, number>()
    for (const { workflowId, pending: count } of store.events.pendingByTopic(ids)) {
      pending.set(workflowId, (pending.get(workflowId) ?? 0) + count)
    }
    return workflows.map((workflow) => {
      const { nextRunAt = null, wakeAt = null, retryAt = null } = times.get(workflow.id) ?? {}
      const planned = [nextRunAt, wakeAt, retryAt].filter((at) => at !== null)
      const mayWake = workflow.status === 'active' && workflow.block === null
      return {
        id: workflow.id,
        name: workflow.name,
        status: workflow.status,
        state: workflowState(workflow, scheduler.isBusy(workflow.id), retryAt !== null),
        block: workflow.block,
        version: workflow.activeVersion,
        permissions: workflow.permissions,
        nextWakeAt: mayWake && planned.length > 0 ? Math.min(...planned) : null,
        retryAt: mayWake ? retryAt : null,
        pendingEvents: pending.get(workflow.id) ?? 0,
        createdAt: workflow.createdAt,
        updatedAt: workflow.updatedAt,
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

  return { listWorkflows, viewWorkflow, getRun, listEscalations }
}
