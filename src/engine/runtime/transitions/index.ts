import type { HandlerRun, HandlerType, RunStatus } from '../../model/handler-run.ts'
import type { Escalation, EscalationAction } from '../../model/escalation.ts'
import type { Failure } from '../../model/errors.ts'
import type { EventDraft } from '../../model/event.ts'
import type { JsonText } from '../../model/json.ts'
import type { Mutation, MutationResolver } from '../../model/mutation.ts'
import type { PrepareResult } from '../../model/prepare-result.ts'
import type { Archive } from '../../model/archive.ts'
import type { UpkeepSummary } from '../../model/retention.ts'
import type { Result } from '../../model/result.ts'
import type { RunResult, RunTrigger, ScriptRun } from '../../model/script-run.ts'
import type { Session, SessionAgent } from '../../model/session.ts'
import type { Workflow } from '../../model/workflow.ts'
import type { Dossier } from '../../ports/archive-store.ts'
import type { PhaseEvent } from '../../machine/phases.ts'
import type { WorkflowEvent } from '../../machine/statuses.ts'
import { advanceSession, settleAgent } from './agents.ts'
import type { Packed } from './archives.ts'
import {
  deleteArchive,
  deleteArchivedRows,
  finishRestore,
  putAway,
  putBack,
  recordUpkeep,
  restoreRows,
  setRetentionDays,
} from './archives.ts'
import type { PhaseTrace } from './attempts.ts'
import { advance, startAttempt, startRetry } from './attempts.ts'
import { commitConsumer, commitEmpty, savePrepared } from './consumer.ts'
import { followClock } from './clock.ts'
import type { TransitionPorts } from './context.ts'
import { createCommit } from './context.ts'
import { resolveEscalation } from './escalations.ts'
import { publishEvents } from './events.ts'
import type { FailedAttempt } from './failure.ts'
import { cancelAttempt, crashAttempt, failAttempt, loseOutcome } from './failure.ts'
import type { MutationRequest } from './mutation.ts'
import { applyMutation, passWithoutMutation, recordMutation, sendMutation } from './mutation.ts'
import type { CommittedPhase } from './producer.ts'
import { commitProducer } from './producer.ts'
import { closeScriptRun, openScriptRun } from './script-runs.ts'
import type { CheckedAgent, SessionDraft } from './sessions.ts'
import {
  addAgent,
  cancelSession,
  createSession,
  deleteSession,
  pauseSession,
  resumeSession,
  retryAgent,
  startSession,
} from './sessions.ts'
import type { SettingsChange } from './upkeep.ts'
import { cancelRun, changeSettings, skipEvents } from './upkeep.ts'
import type { Deployment } from './workflows.ts'
import { deleteWorkflow, deploy, moveWorkflow } from './workflows.ts'

/**
 * The one writer. Every change of a phase, a status, an event, a mutation, a wake time or a workflow's block is one of these,
 * each is one transaction with its side effects inside, and nothing else in the engine can open one.
 */
export const createTransitions = (ports: TransitionPorts) => {
  const commit = createCommit(ports)
  const { timezone } = ports.clock
  return {
    deploy: (deployment: Deployment) => commit((t) => deploy(t, deployment)),
    moveWorkflow: (id: string, event: WorkflowEvent): Result<Workflow> => commit((t) => moveWorkflow(t, id, event)),
    deleteWorkflow: (id: string): Result<void> => commit((t) => deleteWorkflow(t, id)),
    publishByHand: (workflowId: string, draft: EventDraft): void => {
      commit((t) => {
        publishEvents(t, workflowId, [draft], { createdByRunId: null, causedBy: [] })
      })
    },

    changeSettings: (id: string, change: SettingsChange): Result<void> =>
      commit((t) => changeSettings(t, id, change, timezone)),
    /** What holds for the whole engine and no table has a place for. */
    keepSetting: (key: string, value: JsonText): void => {
      commit((t) => {
        t.tx.settings.set(key, value, t.now)
      })
    },
    skipEvents: (workflowId: string, eventIds: readonly string[]): Result<number> =>
      commit((t) => skipEvents(t, workflowId, eventIds)),
    cancelRun: (runId: string): Result<ScriptRun> => commit((t) => cancelRun(t, runId)),

    /** The clock was set back. */
    followClock: (): void => {
      commit((t) => {
        followClock(t, timezone)
      })
    },

    openRun: (workflow: Workflow, trigger: RunTrigger): ScriptRun => commit((t) => openScriptRun(t, workflow, trigger)),
    closeRun: (runId: string, result: RunResult): void => {
      commit((t) => {
        closeScriptRun(t, runId, result)
        const run = t.tx.scriptRuns.get(runId)
        if (run !== undefined) settleAgent(t, run.workflowId)
      })
    },

    startAttempt: (scriptRun: ScriptRun, handler: { type: HandlerType; name: string }): HandlerRun =>
      commit((t) => startAttempt(t, scriptRun, handler)),
    startRetry: (stopped: HandlerRun): HandlerRun => commit((t) => startRetry(t, stopped)),
    advance: (run: HandlerRun, event: PhaseEvent): void => {
      commit((t) => {
        advance(t, run, event)
      })
    },
    commitProducer: (run: HandlerRun, phase: CommittedPhase): void => {
      commit((t) => {
        commitProducer(t, run, phase, t.tx.workflows.get(run.workflowId)?.timezone ?? timezone)
      })
    },
    savePrepared: (
      run: HandlerRun,
      prepared: PrepareResult,
      trace: PhaseTrace,
      seenMessageIds: readonly number[] = [],
    ): Result<void, Failure> => commit((t) => savePrepared(t, run, prepared, trace, seenMessageIds)),
    commitEmpty: (run: HandlerRun): void => {
      commit((t) => {
        commitEmpty(t, run)
      })
    },
    commitConsumer: (run: HandlerRun, phase: CommittedPhase): void => {
      commit((t) => {
        commitConsumer(t, run, phase)
      })
    },

    recordMutation: (run: HandlerRun, request: MutationRequest, status: 'pending' | 'in_flight'): Mutation =>
      commit((t) => recordMutation(t, run, request, status)),
    sendMutation: (run: HandlerRun, mutation: Mutation): void => {
      commit((t) => {
        sendMutation(t, run, mutation)
      })
    },
    applyMutation: (
      run: HandlerRun,
      mutation: Mutation,
      result: JsonText | null,
      trace: PhaseTrace,
      resolvedBy?: MutationResolver,
    ): void => {
      commit((t) => {
        applyMutation(t, run, mutation, result, trace, resolvedBy)
      })
    },
    passWithoutMutation: (run: HandlerRun, trace: PhaseTrace): void => {
      commit((t) => {
        passWithoutMutation(t, run, trace)
      })
    },

    failAttempt: (run: HandlerRun, failed: FailedAttempt): void => {
      commit((t) => {
        failAttempt(t, run, failed)
      })
    },
    loseOutcome: (run: HandlerRun, failed: FailedAttempt & Required<Pick<FailedAttempt, 'mutation'>>): void => {
      commit((t) => {
        loseOutcome(t, run, failed)
      })
    },
    crashAttempt: (run: HandlerRun, undone: Mutation | null): RunStatus => commit((t) => crashAttempt(t, run, undone)),
    cancelAttempt: (runId: string, reason: string): Result<void> => commit((t) => cancelAttempt(t, runId, reason)),

    resolveEscalation: (id: string, action: EscalationAction, value: JsonText | null): Result<Escalation> =>
      commit((t) => resolveEscalation(t, id, action, value)),

    createSession: (draft: SessionDraft): Session => commit((t) => createSession(t, draft)),
    addAgent: (sessionId: string, draft: CheckedAgent): Result<SessionAgent> =>
      commit((t) => addAgent(t, sessionId, draft)),
    startSession: (id: string): Result<Session> => commit((t) => startSession(t, id)),
    pauseSession: (id: string): Result<Session> => commit((t) => pauseSession(t, id)),
    resumeSession: (id: string): Result<Session> => commit((t) => resumeSession(t, id)),
    cancelSession: (id: string): Result<Session> => commit((t) => cancelSession(t, id)),
    retryAgent: (sessionId: string, agentId: string): Result<SessionAgent> =>
      commit((t) => retryAgent(t, sessionId, agentId)),
    deleteSession: (id: string): Result<void> => commit((t) => deleteSession(t, id)),
    /** Nothing of an agent's workflow can run right now. */
    settleAgent: (workflowId: string): void => {
      commit((t) => {
        settleAgent(t, workflowId)
      })
    },
    advanceSession: (id: string): void => {
      commit((t) => {
        advanceSession(t, id)
      })
    },

    putAway: (packed: Packed): Result<Archive> => commit((t) => putAway(t, packed)),
    deleteArchivedRows: (archive: Archive): boolean => commit((t) => deleteArchivedRows(t, archive)),
    putBackArchive: (archive: Archive): void => {
      commit((t) => {
        putBack(t, archive)
      })
    },
    restoreArchivedRows: (archive: Archive, piece: Dossier): void => {
      commit((t) => {
        restoreRows(t, archive, piece)
      })
    },
    finishRestore: (archive: Archive): void => {
      commit((t) => {
        finishRestore(t, archive)
      })
    },
    deleteArchive: (id: string): Result<void> => commit((t) => deleteArchive(t, id)),
    setRetentionDays: (days: number): void => {
      commit((t) => {
        setRetentionDays(t, days)
      })
    },
    recordUpkeep: (summary: UpkeepSummary): void => {
      commit((t) => {
        recordUpkeep(t, summary)
      })
    },
  }
}

export type Transitions = ReturnType<typeof createTransitions>
