import { EngineBug, failure, OwnershipLost } from '../model/errors.ts'
import type { Failure } from '../model/errors.ts'
import type { ConsumerPhase, HandlerRun, ProducerPhase } from '../model/handler-run.ts'
import type { JsonText } from '../model/json.ts'
import type { Mutation } from '../model/mutation.ts'
import type { Workflow } from '../model/workflow.ts'
import type { FollowingPhases, PhaseOutcome, PhaseRequest, Publishing, ScriptPhase } from '../ports/sandbox.ts'
import { isTextTooDeep, TOO_DEEP } from '../script/nesting.ts'
import { parsePrepareResult } from '../script/prepare-result.ts'
import type { MutationCaller } from './mutation-call.ts'
import { createMutationCaller, hasOpenOutcome, recordedEvidence } from './mutation-call.ts'
import type { AttemptHost } from './phase-host.ts'
import { createAttemptHost, createContextOperations, toInternalFailure } from './phase-host.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import { reservationsOf } from './reservations.ts'
import type { LoadedScript, ScriptLoader } from './script-loader.ts'
import { createProducerSteps } from './steps/producer-steps.ts'
import type { Hosts, RunScript } from './steps/script-steps.ts'
import { agentHostFor, cancelIfGone, failureOf, hasHandler, stateOf, withScript } from './steps/script-steps.ts'
import type { Later, Settle, Step } from './steps/step.ts'
import { sandboxLimitsOf } from './workflow-limits.ts'
import { noTrace, StaleAttempt } from './transitions/attempts.ts'
import type { Transitions } from './transitions/index.ts'
import { noSessionWrites } from './transitions/session-writes.ts'

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

const createConsumerSteps = (
  ports: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
  scripts: ScriptLoader,
  mutations: MutationCaller,
  runScript: RunScript,
): Readonly<Record<ConsumerPhase, Step | undefined>> => {
  const { store, clock, crash } = ports

  const hostFor = (run: HandlerRun, workflow: Workflow, script: LoadedScript, phase: ScriptPhase): Hosts => {
    const consumer = script.config.consumers[run.handlerName]
    const agent = agentHostFor(ports, options, workflow)
    const host = createAttemptHost(ports, options, {
      run,
      phase,
      granted: workflow.permissions,
      subscribe: consumer?.subscribe ?? [],
      publishes: consumer?.publishes ?? [],
      agent,
    })
    return { host, agent }
  }

  const publishingOf = ({ handlerName }: HandlerRun, { config }: LoadedScript): Publishing => ({
    topics: config.consumers[handlerName]?.publishes ?? [],
    most: options.maxPublishesPerAttempt,
  })

  const following = (run: HandlerRun, workflow: Workflow, script: LoadedScript): FollowingPhases => {
    const consumer = script.config.consumers[run.handlerName]
    return {
      hasMutate: consumer?.hasMutate === true,
      hasNext: consumer?.hasNext === true,
      state: run.inputState ?? 'null',
      foresee: (...asked) => hostFor(run, workflow, script, 'prepare').host.foresee?.(...asked),
      publishing: publishingOf(run, script),
    }
  }

  const fail = (run: HandlerRun, reason: Failure, host: AttemptHost): void => {
    const reserved = reservationsOf(run)
    const touched = reserved.length > 0 ? reserved : host.touched()
    transitions.failAttempt(run, { failure: reason, trace: host.trace(), touched })
    crash.reach('attempt_failed')
  }

  const prepare = withScript(scripts, (run, workflow, script) => {
    if (cancelIfGone(transitions, run, script)) return undefined
    const hosts = hostFor(run, workflow, script, 'prepare')
    const { host, agent } = hosts
    const then = following(run, workflow, script)
    return runScript(run, script, 'prepare', [run.inputState ?? 'null'], { ...hosts, then }, (outcome) => {
      if (outcome.kind !== 'returned') {
        fail(run, failureOf(outcome), host)
        return undefined
      }
      const subscribe = script.config.consumers[run.handlerName]?.subscribe ?? []
      const prepared = parsePrepareResult(outcome.value, { now: clock.now(), subscribe })
      const saved = prepared.ok
        ? transitions.savePrepared(run, prepared.value, host.trace(), agent?.seenMessageIds())
        : prepared
      if (!saved.ok) fail(run, saved.error, host)
      return undefined
    })
  })

  const runMutate = withScript(scripts, (run, workflow, script) => {
    if (script.config.consumers[run.handlerName]?.hasMutate !== true) {
      transitions.passWithoutMutation(run, noTrace)
      return undefined
    }
    const hosts = hostFor(run, workflow, script, 'mutate')
    const { host } = hosts
    return runScript(run, script, 'mutate', [run.prepareResult ?? 'null'], hosts, (outcome) => {
      const call = host.mutationCall()
      if (!call.ok) fail(run, call.error, host)
      else if (outcome.kind === 'ended' && call.value !== null) return mutations.perform(run, call.value, host.trace())
      else if (outcome.kind === 'returned') transitions.passWithoutMutation(run, host.trace())
      else fail(run, failureOf(outcome), host)
      return undefined
    })
  })

  const mutate: Step = (run, workflow) => {
    const recorded = store.mutations.ofHandlerRun(run.id)
    return recorded === undefined ? runMutate(run, workflow) : mutations.takeUp(run, recorded)
  }

  const emit = withScript(scripts, (run, workflow, script) => {
    const consumer = script.config.consumers[run.handlerName]
    if (consumer?.hasNext === false) {
      transitions.commitConsumer(run, {
        state: undefined,
        drafts: [],
        trace: noTrace,
        ...(workflow.sessionId === null ? {} : { session: noSessionWrites }),
      })
      crash.reach('attempt_committed')
      return undefined
    }
    const hosts = hostFor(run, workflow, script, 'next')
    const { host, agent } = hosts
    const args = [run.prepareResult ?? 'null', mutationForScript(run)]
    const then = following(run, workflow, script)
    const publishing = publishingOf(run, script)
    return runScript(run, script, 'next', args, { ...hosts, then, publishing }, (outcome) => {
      const state = stateOf(outcome, options)
      if (!state.ok) {
        fail(run, state.error, host)
        return undefined
      }
      transitions.commitConsumer(run, {
        state: state.value,
        drafts: host.drafts(),
        trace: host.trace(),
        ...(agent === undefined ? {} : { session: agent.writes() }),
      })
      crash.reach('attempt_committed')
      return undefined
    })
  })

  return {
    pending: (run) => {
      transitions.advance(run, 'begun')
      return undefined
    },
    preparing: prepare,
    prepared: (run) => {
      if (reservationsOf(run).length > 0) transitions.advance(run, 'mutate_begun')
      else transitions.commitEmpty(run)
      return undefined
    },
    mutating: mutate,
    mutated: (run) => {
      transitions.advance(run, 'emit_begun')
      return undefined
    },
    emitting: emit,
    committed: undefined,
  }
}

/** What `next` is told: `{ status: 'applied', result } | { status: 'none' } | { status: 'skipped' }`. */
const mutationForScript = (run: HandlerRun): JsonText =>
  run.mutationOutcome === 'applied'
    ? `{"status":"applied","result":${run.mutationResult ?? 'null'}}`
    : JSON.stringify({ status: run.mutationOutcome ?? 'none' })

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
