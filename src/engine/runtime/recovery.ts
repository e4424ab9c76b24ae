import { failure } from '../model/errors.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import type { EnginePorts } from './ports.ts'
import { hasOpenOutcome, interrupted, recordedEvidence } from './mutation-call.ts'
import { reservationsOf } from './reservations.ts'
import type { SchedulerState } from './scheduler-state.ts'
import { noTrace } from './transitions/attempts.ts'
import type { Transitions } from './transitions/index.ts'

/** What was found and done on a start: shown to the user, never hidden. */
export interface RecoveryReport {
  at: number
  durationMs: number
  /** Attempts that will go on by themselves. */
  recoveredRuns: number
  /** Attempts whose mutation was on its way: a person is asked about each. */
  askedUser: number
  /** Attempts that died once too often. */
  gaveUp: number
  /** Runs that were open and go on. */
  continuedRuns: number
  /** Breaches of the invariants, in words. */
  violations: string[]
}

interface RecoveryParts {
  ports: EnginePorts
  transitions: Transitions
  flags: SchedulerState
  configOf(workflow: Workflow): WorkflowConfig
}

/**
 * Runs on every page load before the scheduler starts. It only marks: what was active is crashed with a retry due now, or asks
 * the user; the ordinary scheduler does the rest, so a paused or blocked workflow waits like always. Dying in the middle of it
 * is harmless, because every attempt is marked in a transaction of its own and marked ones are not active any more.
 */
export const recover = ({ ports, transitions, flags, configOf }: RecoveryParts): RecoveryReport => {
  const { store, clock, tools, crash } = ports
  const startedAt = clock.now()
  const report: RecoveryReport = {
    at: startedAt,
    durationMs: 0,
    recoveredRuns: 0,
    askedUser: 0,
    gaveUp: 0,
    continuedRuns: store.scriptRuns.listOpen().length,
    violations: [],
  }
  crash.reach('recovery_begun')
  for (const run of store.handlerRuns.listActive()) {
    const mutation = store.mutations.ofHandlerRun(run.id)
    const method = mutation && tools.find(mutation.toolNamespace, mutation.toolMethod)
    const isOpen = hasOpenOutcome(run, mutation)
    if (isOpen && method?.reconcile !== undefined) {
      // It can be looked up: the attempt goes on where it was, and its step asks the tool before it asks a person.
      report.recoveredRuns += 1
    } else if (isOpen) {
      transitions.loseOutcome(run, {
        failure: failure('network', interrupted),
        trace: noTrace,
        touched: reservationsOf(run),
        mutation: { entry: mutation, evidence: recordedEvidence(tools, mutation) },
      })
      report.askedUser += 1
    } else {
      const status = transitions.crashAttempt(run, mutation?.status === 'pending' ? mutation : null)
      if (status === 'crashed') report.recoveredRuns += 1
      else report.gaveUp += 1
    }
    crash.reach('recovery_marked')
  }
  // Since the last life the clock may have been set back, and nobody was there to notice.
  transitions.followClock()
  const workflows = store.workflows.list()
  goOnWithSessions(ports, transitions, workflows)
  rebuildFlags(ports, flags, configOf, workflows)
  report.violations = store.checkInvariants()
  report.durationMs = clock.now() - startedAt
  crash.reach('recovery_done')
  return report
}

/**
 * Agents are recovered through their handler runs like any other workflow. What is left to do is to look whether one of them had
 * nothing more to do, and what is ready to start: both are asked again and again without harm.
 */
const goOnWithSessions = ({ store }: EnginePorts, transitions: Transitions, workflows: readonly Workflow[]): void => {
  for (const { id, sessionId, status } of workflows) {
    if (sessionId !== null && status === 'active') transitions.settleAgent(id)
  }
  for (const session of store.sessions.listUnderWay()) transitions.advanceSession(session.id)
}

const rebuildFlags = (
  { store, clock }: EnginePorts,
  flags: SchedulerState,
  configOf: RecoveryParts['configOf'],
  workflows: readonly Workflow[],
): void => {
  for (const { workflowId, topic } of store.events.pendingByTopic(workflows.map(({ id }) => id))) {
    flags.eventsArrived(workflowId, [topic])
  }
  for (const { workflowId, producerName } of store.producerSchedules.due(clock.now())) {
    flags.queue(workflowId, producerName)
  }
  markUnseenConsumers({ store, flags, workflows, configOf })
  queueUnservedManualRuns({ store, flags, workflows, configOf })
}

type FlagParts = Pick<EnginePorts, 'store'> &
  Pick<RecoveryParts, 'flags' | 'configOf'> & { workflows: readonly Workflow[] }

/**
 * Deploying lets every consumer look once, and one that works by the clock has neither events nor a wake time before that look.
 * If the tab died first, nothing else would ever wake it.
 */
const markUnseenConsumers = ({ store, flags, workflows, configOf }: FlagParts): void => {
  for (const workflow of workflows) {
    const seen = new Set(store.handlerStates.forWorkflow(workflow.id).map(({ handlerName }) => handlerName))
    for (const consumer of Object.keys(configOf(workflow).consumers)) {
      if (!seen.has(consumer)) flags.markDirty(workflow.id, consumer)
    }
  }
}

/** "Run now" was answered, so it must not be lost: producers that the open manual run has not come to yet are still queued. */
const queueUnservedManualRuns = ({ store, flags, workflows, configOf }: FlagParts): void => {
  for (const run of store.scriptRuns.listOpen()) {
    const workflow = workflows.find(({ id }) => id === run.workflowId)
    if (run.trigger !== 'manual' || workflow === undefined) continue
    const alreadyRun = store.handlerRuns.producersRunIn(run.id)
    for (const producer of Object.keys(configOf(workflow).producers)) {
      if (!alreadyRun.includes(producer)) flags.queue(workflow.id, producer)
    }
  }
}
