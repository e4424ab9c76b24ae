import type { Choice } from '../machine/choose-next.ts'
import { chooseNext } from '../machine/choose-next.ts'
import { EngineBug } from '../model/errors.ts'
import type { ScriptRun } from '../model/script-run.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import type { ExecuteHandler } from './execute-handler.ts'
import type { EnginePorts } from './ports.ts'
import type { SchedulerState } from './scheduler-state.ts'
import { readSituation } from './situation.ts'
import type { Transitions } from './transitions/index.ts'

export interface RunLoopParts {
  ports: EnginePorts
  transitions: Transitions
  flags: SchedulerState
  configOf(workflow: Workflow): WorkflowConfig
  executeHandler: ExecuteHandler
  /** False once the engine is to start nothing more. */
  mayStart(): boolean
}

/**
 * Tells, in the same turn in which it saw it, when nothing of the workflow can run until something happens or a planned time
 * comes: a change between the look and the word about it would be lost.
 */
export type RunLoop = (workflowId: string, onNothingLeft: (asOf: number) => void) => Promise<void>

/**
 * One pass over a workflow (exec-07): its producers if that is what it was started for, then its consumers until none can run
 * or the budget is spent. Whatever is left then, the scheduler finds again, after the other workflows had their turn.
 */
export const createRunLoop = (parts: RunLoopParts): RunLoop => {
  const { ports, transitions, flags, configOf, executeHandler, mayStart } = parts
  const { store, clock, crash } = ports

  const finish = (run: ScriptRun | undefined): void => {
    if (run === undefined) return
    transitions.closeRun(run.id, 'completed')
    crash.reach('run_finished')
  }

  const openRun = (workflow: Workflow, trigger: 'event' | 'schedule'): ScriptRun => {
    const run = transitions.openRun(workflow, trigger)
    crash.reach('run_opened')
    return run
  }

  /** The attempt that the choice leads to, inside the run it belongs to. */
  const attemptFor = (choice: Choice, workflow: Workflow, open: ScriptRun | undefined): string => {
    switch (choice.kind) {
      case 'continue':
        return choice.handlerRunId
      case 'retry': {
        const stopped = store.handlerRuns.get(choice.handlerRunId)
        if (stopped === undefined) throw new EngineBug(`Handler run ${choice.handlerRunId} is gone.`)
        const retry = transitions.startRetry(stopped)
        crash.reach('retry_started')
        return retry.id
      }
      case 'consumer':
        return start(open ?? openRun(workflow, 'event'), 'consumer', choice.name)
      case 'producer': {
        if (open !== undefined && choice.inOpenRun) return start(open, 'producer', choice.name)
        finish(open)
        return start(openRun(workflow, 'schedule'), 'producer', choice.name)
      }
    }
  }

  const start = (run: ScriptRun, type: 'producer' | 'consumer', name: string): string => {
    const attempt = transitions.startAttempt(run, { type, name })
    crash.reach('attempt_started')
    return attempt.id
  }

  return async (workflowId, onNothingLeft) => {
    while (mayStart()) {
      const workflow = store.workflows.get(workflowId)
      if (workflow?.status !== 'active' || workflow.block !== null) return
      const open = store.scriptRuns.openOf(workflowId)
      const now = clock.now()
      const choice = chooseNext(readSituation(store, flags, workflow, configOf(workflow), open, now))
      if (choice === null) {
        if (open !== undefined) finish(open)
        else if (workflow.sessionId !== null) transitions.settleAgent(workflowId)
        onNothingLeft(now)
        return
      }
      const isFresh = choice.kind === 'consumer' || choice.kind === 'producer'
      if (isFresh && open !== undefined && open.handlerRunCount >= workflow.budget) {
        finish(open)
        return
      }
      if ((await executeHandler(attemptFor(choice, workflow, open))) === 'parked') return
    }
  }
}
