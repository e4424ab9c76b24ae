import { runResultOf } from '../../machine/statuses.ts'
import type { RunStatus } from '../../model/handler-run.ts'
import type { RunResult, RunTrigger, ScriptRun } from '../../model/script-run.ts'
import type { Workflow } from '../../model/workflow.ts'
import type { Transition } from './context.ts'
import { mustExist } from './context.ts'

export const openScriptRun = ({ tx, now, ids }: Transition, workflow: Workflow, trigger: RunTrigger): ScriptRun => {
  const run: ScriptRun = {
    id: ids.next('run'),
    workflowId: workflow.id,
    scriptId: mustExist(workflow.activeScriptId ?? undefined, `The active version of workflow ${workflow.id}`),
    trigger,
    result: null,
    error: null,
    cost: 0,
    handlerRunCount: 0,
    startTimestamp: now,
    endTimestamp: null,
  }
  tx.scriptRuns.insert(run)
  return run
}

export const closeScriptRun = (
  { tx, now }: Transition,
  runId: string,
  result: RunResult,
  error: string | null = null,
): void => {
  const run = mustExist(tx.scriptRuns.get(runId), `Run ${runId}`)
  if (run.endTimestamp === null) tx.scriptRuns.close(runId, result, error, now)
}

/** A stopped attempt ends its run too, except where the run simply goes on with the attempt after it. */
export const closeAfterAttempt = (
  transition: Transition,
  runId: string,
  status: RunStatus,
  error: string | null,
): void => {
  const result = runResultOf[status]
  if (result !== null) closeScriptRun(transition, runId, result, error)
}

/** At most one run of a workflow is open: one that was going on is complete as far as it got. */
export const reopenScriptRun = (transition: Transition, runId: string): void => {
  const { tx } = transition
  const run = mustExist(tx.scriptRuns.get(runId), `Run ${runId}`)
  if (run.endTimestamp === null) return
  const other = tx.scriptRuns.openOf(run.workflowId)
  if (other !== undefined) closeScriptRun(transition, other.id, 'completed')
  tx.scriptRuns.reopen(runId)
}
