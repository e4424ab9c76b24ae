import type { Choice } from '../machine/choose-next.ts'
import { chooseNext } from '../machine/choose-next.ts'
import { EngineBug } from '../model/errors.ts'
import type { ScriptRun } from '../model/script-run.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import { usedUpLimits } from './daily-limits.ts'
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

export interface RunLoopListener {
  /**
   * Told in the same turn in which it was seen: nothing of the workflow can run until something happens or a planned time comes.
   * A change between the look and the word about it would be lost.
   */
  onNothingLeft(): void
  /** Also in that turn: what is left has to wait until then, because a limit of the day is used up. */
  onLimited(until: number): void
  /** An attempt came to its end: times may have been planned. */
  onSettled(): void
}

/** Drives one workflow for one turn: until nothing is left, or its run is over. */
export type RunLoop = (workflowId: string, listener: RunLoopListener) => Promise<void>

/**
 * One pass over a workflow (exec-07): its producers if that is what it was started for, then its consumers until none can run
 * or the budget is spent. Whatever is left then, the scheduler finds again, after the other workflows had their turn.
 */
export const createRunLoop = (parts: RunLoopParts): RunLoop => {
  const { ports, transitions, flags, configOf, executeHandler, mayStart } = parts
  const { store, clock, crash } = ports

  const finish = (run: ScriptRun): void => {
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
        return start(open ?? openRun(workflow, 'schedule'), 'producer', choice.name)
      }
    }
  }

  const start = (run: ScriptRun, type: 'producer' | 'consumer', name: string): string => {
    const attempt = transitions.startAttempt(run, { type, name })
    crash.reach('attempt_started')
    return attempt.id
  }

  return async (workflowId, { onNothingLeft, onLimited, onSettled }) => {
    while (mayStart()) {
      const workflow = store.workflows.get(workflowId)
      if (workflow?.status !== 'active' || workflow.block !== null) return
      const open = store.scriptRuns.openOf(workflowId)
      const now = clock.now()
      const usedUp = usedUpLimits(store, workflowId, now)
      const choice = chooseNext(readSituation(store, flags, workflow, configOf(workflow), open, now, usedUp))
      if (choice === null) {
        // A run whose producers could not be paid for goes on when they can.
        const isCutShort = usedUp.some(({ limit }) => limit === 'costPerDay')
        if (open !== undefined && !isCutShort) finish(open)
        else if (open === undefined && workflow.sessionId !== null) transitions.settleAgent(workflowId)
        if (usedUp.length > 0) onLimited(Math.min(...usedUp.map(({ freesAt }) => freesAt)))
        onNothingLeft()
        return
      }
      if (open !== undefined && isForNextRun(choice, open, workflow)) {
        finish(open)
        return
      }
      const execution = await executeHandler(attemptFor(choice, workflow, open))
      onSettled()
      if (execution === 'parked') return
    }
  }
}

/** With its run over a workflow gives up its turn, also when it could go on at once: others may be waiting. */
const isForNextRun = (choice: Choice, open: ScriptRun, { budget }: Workflow): boolean => {
  if (choice.kind === 'producer' && !choice.inOpenRun) return true
  return (choice.kind === 'consumer' || choice.kind === 'producer') && open.handlerRunCount >= budget
}
