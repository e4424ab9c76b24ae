import type { Choice } from '../machine/choose-next.ts'
import { chooseNext } from '../machine/choose-next.ts'
import { EngineBug } from '../model/errors.ts'
import type { ScriptRun } from '../model/script-run.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import { usedUpLimits } from './daily-limits.ts'
import type { Attempts, OnThrow, Waited, Waiting } from './execute-handler.ts'
import type { EnginePorts } from './ports.ts'
import type { SchedulerState } from './scheduler-state.ts'
import { readSituation } from './situation.ts'
import { StaleAttempt } from './transitions/attempts.ts'
import type { Group } from './transitions/group.ts'
import type { Transitions } from './transitions/index.ts'

export interface RunLoopParts {
  ports: EnginePorts
  transitions: Transitions
  flags: SchedulerState
  configOf(workflow: Workflow): WorkflowConfig
  attempts: Attempts
  group: Group
  /** False once the engine is to start nothing more. */
  mayStart(): boolean
  /** A commit of several transitions was rolled back. Nothing is lost, each is made by itself: but it should not happen. */
  onUndone(thrown: unknown): void
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

/** How a burst ended: with the turn, with an attempt that has to wait, or with as many attempts as one burst may have. */
type BurstEnd = 'over' | 'full' | Waiting

/** Nobody else gets the thread meanwhile, and what is in one COMMIT is lost as one. */
const mostAttemptsInBurst = 8

/**
 * One pass over a workflow (exec-07): its producers if that is what it was started for, then its consumers until none can run
 * or the budget is spent. Whatever is left then, the scheduler finds again, after the other workflows had their turn.
 *
 *   what was waited for is settled ─▶ the rest of that attempt ─▶ the next one is chosen and begun ─▶ … ─▶ something to wait for
 *
 * All of this is one synchronous burst, and one COMMIT as well where the sandbox may have answers at hand.
 */
export const createRunLoop = (parts: RunLoopParts): RunLoop => {
  const { ports, transitions, flags, configOf, attempts, group, mayStart, onUndone } = parts
  const { store, clock, crash, sandbox } = ports

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

  /** The attempt to go on with; null when this turn of the workflow is over. */
  const chooseAttempt = (workflowId: string, { onNothingLeft, onLimited }: RunLoopListener): string | null => {
    if (!mayStart()) return null
    const workflow = store.workflows.get(workflowId)
    if (workflow?.status !== 'active' || workflow.block !== null) return null
    const open = store.scriptRuns.openOf(workflowId)
    const now = clock.now()
    const usedUp = usedUpLimits(store, workflowId, now)
    const choice = chooseNext(readSituation(store, flags, workflow, configOf(workflow), open, now, usedUp))
    if (choice === null) {
      // A run whose producers could not be paid for goes on when they can.
      const isCutShort = usedUp.some(({ limit }) => limit === 'costPerDay')
      if (open !== undefined && !isCutShort) finish(open)
      else if (open === undefined && workflow.sessionId !== null) transitions.settleAgent(workflowId)
      if (usedUp.length > 0) {
        const until = Math.min(...usedUp.map(({ freesAt }) => freesAt))
        group.afterCommit(() => onLimited(until))
      }
      group.afterCommit(onNothingLeft)
      return null
    }
    if (open !== undefined && isForNextRun(choice, open, workflow)) {
      finish(open)
      return null
    }
    return attemptFor(choice, workflow, open)
  }

  const burst = (workflowId: string, waited: Waited | null, listener: RunLoopListener, onThrow: OnThrow): BurstEnd => {
    let progress = waited === null ? null : attempts.settle(waited, onThrow)
    for (let ended = 0; ;) {
      if (progress !== null) {
        if (typeof progress !== 'string') return progress
        group.afterCommit(listener.onSettled)
        if (progress === 'parked') return 'over'
        ended += 1
      }
      if (ended === mostAttemptsInBurst) return 'full'
      const id = chooseAttempt(workflowId, listener)
      if (id === null) return 'over'
      progress = attempts.goOn(id, onThrow)
    }
  }

  /** Null when it was rolled back: then nothing of it has happened, and what was waited for is still to be settled. */
  const burstInOneCommit = (workflowId: string, waited: Waited | null, listener: RunLoopListener): BurstEnd | null => {
    const done = group.inOneCommit(() => burst(workflowId, waited, listener, 'pass on'))
    if (done.ok) return done.value
    // What was deleted or cancelled meanwhile may well have been waited for.
    if (!(done.error instanceof StaleAttempt)) onUndone(done.error)
    return null
  }

  return async (workflowId, listener) => {
    let waited = null as Waited | null
    /** An attempt that went on after something failed in one COMMIT with others: it comes to its end by itself. */
    let loner: string | null = null
    for (;;) {
      const mayGroup: boolean = sandbox.takeAtHand !== undefined && waited?.isFailed !== true
      const isGrouped: boolean = mayGroup && waited?.handlerRunId !== loner
      const grouped: BurstEnd | null = isGrouped ? burstInOneCommit(workflowId, waited, listener) : null
      const end: BurstEnd = grouped ?? burst(workflowId, waited, listener, 'fail')
      if (end === 'over') return
      if (isGrouped && grouped === null && end !== 'full') loner = end.handlerRunId
      waited = end === 'full' ? null : await attempts.wait(end)
      if (waited === null) await Promise.resolve()
    }
  }
}

/** With its run over a workflow gives up its turn, also when it could go on at once: others may be waiting. */
const isForNextRun = (choice: Choice, open: ScriptRun, { budget }: Workflow): boolean => {
  if (choice.kind === 'producer' && !choice.inOpenRun) return true
  return (choice.kind === 'consumer' || choice.kind === 'producer') && open.handlerRunCount >= budget
}
