import { EngineBug, failure, OwnershipLost } from '../model/errors.ts'
import type { ConsumerPhase, HandlerRun, ProducerPhase } from '../model/handler-run.ts'
import type { Mutation } from '../model/mutation.ts'
import type { PhaseOutcome, PhaseRequest, ScriptPhase } from '../ports/sandbox.ts'
import { isTextTooDeep, TOO_DEEP } from '../script/nesting.ts'
import { createMutationCaller, hasOpenOutcome, recordedEvidence } from './mutation-call.ts'
import { createContextOperations, toInternalFailure } from './phase-host.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import { reservationsOf } from './reservations.ts'
import type { ScriptLoader } from './script-loader.ts'
import { createConsumerSteps } from './steps/consumer-steps.ts'
import { createProducerSteps } from './steps/producer-steps.ts'
import type { RunScript } from './steps/script-steps.ts'
import { hasHandler } from './steps/script-steps.ts'
import type { Later, Settle, Step } from './steps/step.ts'
import { sandboxLimitsOf } from './workflow-limits.ts'
import { noTrace, StaleAttempt } from './transitions/attempts.ts'
import type { Transitions } from './transitions/index.ts'

/** `settled`: this attempt is over, one way or the other. `parked`: its workflow was paused, it waits between two phases. */
export type Execution = 'settled' | 'parked'

export type ExecuteHandler = (handlerRunId: string) => Promise<Execution>

/** An attempt that waits. */
export interface Waiting {
  handlerRunId: string
  later: Later
}

export type Progress = Execution | Waiting

/** What an attempt waited for, ready to be written. */
export interface Waited {
  handlerRunId: string
  settle: Settle
  /** Nothing came of it but an error: there is nothing to be committed together with what follows. */
  isFailed?: true
}

/**
 * Where nothing can be written about a step that threw, because it is one of a group that is going to be rolled back, the throw
 * goes through. Everywhere else it is a failure of the attempt.
 */
export type OnThrow = 'fail' | 'pass on'

export interface Attempts {
  /** Performs every step that has nothing to wait for. */
  goOn(handlerRunId: string, onThrow: OnThrow): Progress
  /** The same, after what was waited for is settled. */
  settle(waited: Waited, onThrow: OnThrow): Progress
  /** To be called when everything that was done before is committed. What is thrown meanwhile is thrown again by `settle`. */
  wait(waiting: Waiting): Promise<Waited>
}

/**
 * The one loop: read the row afresh, perform the step of its phase, repeat. A recovered attempt goes through the same code as
 * one that was never interrupted.
 */
export const createAttempts = (
  ports: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
  scripts: ScriptLoader,
): Attempts => {
  const { store } = ports
  const mutations = createMutationCaller(ports, options, transitions)
  const runScript = createRunScript(ports, options)
  const producerSteps = createProducerSteps(ports, options, transitions, scripts, runScript)
  const consumerSteps = createConsumerSteps(ports, options, transitions, scripts, mutations, runScript)
  const stepOf = (run: HandlerRun): Step => {
    const step =
      run.handlerType === 'producer'
        ? producerSteps[run.phase as ProducerPhase]
        : consumerSteps[run.phase as ConsumerPhase]
    if (step === undefined) throw new EngineBug(`A ${run.handlerType} run has no phase "${run.phase}".`)
    return step
  }

  const perform = (handlerRunId: string, work: Settle, onThrow: OnThrow): Later | undefined => {
    if (onThrow === 'pass on') return work()
    try {
      return work()
    } catch (thrown) {
      if (thrown instanceof StaleAttempt) return undefined
      if (thrown instanceof OwnershipLost) throw thrown
      failInternally(ports, transitions, handlerRunId, thrown)
      return undefined
    }
  }

  const goOn = (handlerRunId: string, onThrow: OnThrow): Progress => {
    for (;;) {
      const run = store.handlerRuns.get(handlerRunId)
      if (run?.status !== 'active') return 'settled'
      const workflow = store.workflows.get(run.workflowId)
      if (workflow?.status !== 'active') return 'parked'
      const later = perform(handlerRunId, () => stepOf(run)(run, workflow), onThrow)
      if (later !== undefined) return { handlerRunId, later }
    }
  }

  const settle = ({ handlerRunId, settle: work }: Waited, onThrow: OnThrow): Progress => {
    const later = perform(handlerRunId, work, onThrow)
    return later === undefined ? goOn(handlerRunId, onThrow) : { handlerRunId, later }
  }

  const wait = async ({ handlerRunId, later }: Waiting): Promise<Waited> => {
    try {
      return { handlerRunId, settle: await later() }
    } catch (thrown) {
      const rethrow: Settle = () => {
        throw thrown
      }
      return { handlerRunId, settle: rethrow, isFailed: true }
    }
  }

  return { goOn, settle, wait }
}

/** One attempt by itself, each of its transitions committed for itself. */
export const createExecuteHandler = ({ goOn, settle, wait }: Attempts): ExecuteHandler => {
  return async (handlerRunId) => {
    let progress = goOn(handlerRunId, 'fail')
    while (typeof progress !== 'string') progress = settle(await wait(progress), 'fail')
    return progress
  }
}

/** What escaped our own code is never blamed on the script. If even this cannot be written, the engine stops. */
const failInternally = (
  { store, tools }: EnginePorts,
  transitions: Transitions,
  runId: string,
  thrown: unknown,
): void => {
  const run = store.handlerRuns.get(runId)
  if (run?.status !== 'active') return
  const mutation = store.mutations.ofHandlerRun(runId)
  const failed = {
    failure: toInternalFailure(`Phase "${run.phase}" of "${run.handlerName}"`, thrown),
    trace: noTrace,
    touched: reservationsOf(run),
  }
  const withMutation = (entry: Mutation) => ({
    ...failed,
    mutation: { entry, evidence: recordedEvidence(tools, entry) },
  })
  if (hasOpenOutcome(run, mutation)) transitions.loseOutcome(run, withMutation(mutation))
  else if (mutation?.status === 'pending') transitions.failAttempt(run, withMutation(mutation))
  else transitions.failAttempt(run, failed)
}

const createRunScript = ({ store, sandbox, tools, crash }: EnginePorts, options: EngineOptions): RunScript => {
  const operationsOf = createContextOperations(tools)
  return (run, script, phase, args, { host, agent, then, publishing }, settle) => {
    if (!hasHandler(script, run)) {
      const message = `Version ${String(script.version)} of the script has no ${run.handlerType} "${run.handlerName}" any more. Bring it back, or skip these events.`
      return settle({ kind: 'failed', failure: failure('logic', message) })
    }
    crash.reach('before_script')
    const request: PhaseRequest = {
      workflowId: run.workflowId,
      scriptId: run.scriptId,
      code: script.code,
      phase,
      handler: run.handlerName,
      args,
      ...operationsOf(agent !== undefined),
      ...(agent === undefined ? {} : { values: { session: agent.values } }),
      // What an agent sees on `ctx.session` may be another thing in each of its phases.
      ...(then === undefined || agent !== undefined ? {} : { then }),
      ...(publishing === undefined ? {} : { publishing }),
      limits: { ...options.limits, ...sandboxLimitsOf(store.settings, run.workflowId) },
      host,
    }
    const heed = (outcome: PhaseOutcome): Later | undefined => {
      crash.reach('after_script')
      return settle(flatEnough(outcome, phase))
    }
    const atHand = sandbox.takeAtHand?.(request)
    if (atHand !== undefined) return heed(atHand)
    return async () => {
      const outcome = await sandbox.runPhase(request)
      return () => heed(outcome)
    }
  }
}

const flatEnough = (outcome: PhaseOutcome, phase: ScriptPhase): PhaseOutcome => {
  if (outcome.kind !== 'returned' || outcome.value === undefined || !isTextTooDeep(outcome.value)) return outcome
  const reason = `What ${phase} returned ${TOO_DEEP}. Return something flatter.`
  return { kind: 'failed', failure: failure('logic', reason) }
}
