import { EngineBug, failure, OwnershipLost } from '../model/errors.ts'
import type { Failure } from '../model/errors.ts'
import type { ConsumerPhase, HandlerRun, ProducerPhase } from '../model/handler-run.ts'
import type { JsonText } from '../model/json.ts'
import type { Mutation } from '../model/mutation.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { Workflow } from '../model/workflow.ts'
import type { FollowingPhases, PhaseOutcome, Publishing, ScriptPhase } from '../ports/sandbox.ts'
import { isTextTooDeep, TOO_DEEP } from '../script/nesting.ts'
import { parsePrepareResult } from '../script/prepare-result.ts'
import type { MutationCaller } from './mutation-call.ts'
import { createMutationCaller, hasOpenOutcome, recordedEvidence } from './mutation-call.ts'
import type { AttemptHost } from './phase-host.ts'
import { createAttemptHost, createContextOperations, toInternalFailure } from './phase-host.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import { reservationsOf } from './reservations.ts'
import type { AgentHost } from './sessions/agent-host.ts'
import { createAgentHost, findAgent } from './sessions/agent-host.ts'
import type { LoadedScript, ScriptLoader } from './script-loader.ts'
import { sandboxLimitsOf } from './workflow-limits.ts'
import { StaleAttempt } from './transitions/attempts.ts'
import type { Transitions } from './transitions/index.ts'
import { noSessionWrites } from './transitions/session-writes.ts'

/** `settled`: this attempt is over, one way or the other. `parked`: its workflow was paused, it waits between two phases. */
export type Execution = 'settled' | 'parked'

export type ExecuteHandler = (handlerRunId: string) => Promise<Execution>

type Step = (run: HandlerRun, workflow: Workflow) => Promise<void> | void

/**
 * The one loop: read the row afresh, perform the step of its phase, repeat. A recovered attempt goes through the same code as
 * one that was never interrupted.
 */
export const createExecuteHandler = (
  ports: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
  scripts: ScriptLoader,
): ExecuteHandler => {
  const { store } = ports
  const mutations = createMutationCaller(ports, options, transitions)
  const runScript = createRunScript(ports, options)
  const producerSteps = createProducerSteps(ports, options, transitions, scripts, runScript)
  const consumerSteps = createConsumerSteps(ports, options, transitions, scripts, mutations, runScript)
  const stepOf = (run: HandlerRun): Step | undefined =>
    run.handlerType === 'producer'
      ? producerSteps[run.phase as ProducerPhase]
      : consumerSteps[run.phase as ConsumerPhase]

  return async (handlerRunId) => {
    for (;;) {
      const run = store.handlerRuns.get(handlerRunId)
      if (run?.status !== 'active') return 'settled'
      const workflow = store.workflows.get(run.workflowId)
      if (workflow?.status !== 'active') return 'parked'
      try {
        const step = stepOf(run)
        if (step === undefined) throw new EngineBug(`A ${run.handlerType} run has no phase "${run.phase}".`)
        await step(run, workflow)
      } catch (thrown) {
        if (thrown instanceof StaleAttempt) continue
        if (thrown instanceof OwnershipLost) throw thrown
        failInternally(ports, transitions, run.id, thrown)
      }
    }
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
    trace: { logs: [], cost: 0 },
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

const createProducerSteps = (
  ports: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
  scripts: ScriptLoader,
  runScript: RunScript,
): Readonly<Record<ProducerPhase, Step | undefined>> => ({
  pending: (run) => {
    transitions.advance(run, 'begun')
  },
  executing: async (run, workflow) => {
    const script = await scripts.load(run.scriptId)
    if (cancelIfGone(transitions, run, script)) return
    const publishes = script.config.producers[run.handlerName]?.publishes ?? []
    const agent = agentHostFor(ports, options, workflow)
    const host = createAttemptHost(ports, options, {
      run,
      phase: 'producer',
      granted: workflow.permissions,
      subscribe: [],
      publishes,
      agent,
    })
    const args = [run.inputState ?? 'null']
    const publishing = { topics: publishes, most: options.maxPublishesPerAttempt }
    const outcome = await runScript(run, script, 'producer', args, { host, agent, publishing })
    const state = stateOf(outcome, options)
    if (state.ok) transitions.commitProducer(run, { state: state.value, drafts: host.drafts(), trace: host.trace() })
    else transitions.failAttempt(run, { failure: state.error, trace: host.trace(), touched: [] })
    ports.crash.reach(state.ok ? 'attempt_committed' : 'attempt_failed')
  },
  committed: undefined,
})

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

  const prepare: Step = async (run, workflow) => {
    const script = await scripts.load(run.scriptId)
    if (cancelIfGone(transitions, run, script)) return
    const hosts = hostFor(run, workflow, script, 'prepare')
    const { host, agent } = hosts
    const outcome = await runScript(run, script, 'prepare', [run.inputState ?? 'null'], {
      ...hosts,
      then: following(run, workflow, script),
    })
    if (outcome.kind !== 'returned') {
      fail(run, failureOf(outcome), host)
      return
    }
    const subscribe = script.config.consumers[run.handlerName]?.subscribe ?? []
    const prepared = parsePrepareResult(outcome.value, { now: clock.now(), subscribe })
    const saved = prepared.ok
      ? transitions.savePrepared(run, prepared.value, host.trace(), agent?.seenMessageIds())
      : prepared
    if (!saved.ok) fail(run, saved.error, host)
  }

  const mutate: Step = async (run, workflow) => {
    const recorded = store.mutations.ofHandlerRun(run.id)
    if (recorded !== undefined) {
      await mutations.takeUp(run, recorded)
      return
    }
    const script = await scripts.load(run.scriptId)
    if (script.config.consumers[run.handlerName]?.hasMutate !== true) {
      transitions.passWithoutMutation(run, { logs: [], cost: 0 })
      return
    }
    const hosts = hostFor(run, workflow, script, 'mutate')
    const { host } = hosts
    const outcome = await runScript(run, script, 'mutate', [run.prepareResult ?? 'null'], hosts)
    const call = host.mutationCall()
    if (!call.ok) fail(run, call.error, host)
    else if (outcome.kind === 'ended' && call.value !== null) await mutations.perform(run, call.value, host.trace())
    else if (outcome.kind === 'returned') transitions.passWithoutMutation(run, host.trace())
    else fail(run, failureOf(outcome), host)
  }

  const emit: Step = async (run, workflow) => {
    const script = await scripts.load(run.scriptId)
    const consumer = script.config.consumers[run.handlerName]
    if (consumer?.hasNext === false) {
      transitions.commitConsumer(run, {
        state: undefined,
        drafts: [],
        trace: { logs: [], cost: 0 },
        ...(workflow.sessionId === null ? {} : { session: noSessionWrites }),
      })
      crash.reach('attempt_committed')
      return
    }
    const hosts = hostFor(run, workflow, script, 'next')
    const { host, agent } = hosts
    const args = [run.prepareResult ?? 'null', mutationForScript(run)]
    const then = following(run, workflow, script)
    const publishing = publishingOf(run, script)
    const state = stateOf(await runScript(run, script, 'next', args, { ...hosts, then, publishing }), options)
    if (!state.ok) {
      fail(run, state.error, host)
      return
    }
    transitions.commitConsumer(run, {
      state: state.value,
      drafts: host.drafts(),
      trace: host.trace(),
      ...(agent === undefined ? {} : { session: agent.writes() }),
    })
    crash.reach('attempt_committed')
  }

  return {
    pending: (run) => {
      transitions.advance(run, 'begun')
    },
    preparing: prepare,
    prepared: (run) => {
      if (reservationsOf(run).length > 0) transitions.advance(run, 'mutate_begun')
      else transitions.commitEmpty(run)
    },
    mutating: mutate,
    mutated: (run) => {
      transitions.advance(run, 'emit_begun')
    },
    emitting: emit,
    committed: undefined,
  }
}

/**
 * A retry runs the version that is active now, and that may not have the handler any more. Before the boundary there is nothing
 * to finish: the events go back, and nobody is asked about a handler that was taken away on purpose.
 */
const cancelIfGone = (transitions: Transitions, run: HandlerRun, script: LoadedScript): boolean => {
  if (hasHandler(script, run)) return false
  const reason = `Version ${String(script.version)} of the script has no ${run.handlerType} "${run.handlerName}" any more, so there is nothing to retry.`
  const cancelled = transitions.cancelAttempt(run.id, reason)
  if (!cancelled.ok) throw new EngineBug(cancelled.error.message)
  return true
}

const hasHandler = ({ config }: LoadedScript, run: HandlerRun): boolean =>
  Object.hasOwn(run.handlerType === 'producer' ? config.producers : config.consumers, run.handlerName)

interface Hosts {
  host: AttemptHost
  /** When the workflow is that of an agent. */
  agent: AgentHost | undefined
}

const agentHostFor = ({ store }: EnginePorts, options: EngineOptions, workflow: Workflow): AgentHost | undefined => {
  const agent = findAgent(store, workflow)
  return agent === undefined ? undefined : createAgentHost(store, agent, options.maxStateBytes)
}

/** What `next` is told: `{ status: 'applied', result } | { status: 'none' } | { status: 'skipped' }`. */
const mutationForScript = (run: HandlerRun): JsonText =>
  run.mutationOutcome === 'applied'
    ? `{"status":"applied","result":${run.mutationResult ?? 'null'}}`
    : JSON.stringify({ status: run.mutationOutcome ?? 'none' })

type RunScript = (
  run: HandlerRun,
  script: LoadedScript,
  phase: ScriptPhase,
  args: readonly JsonText[],
  hosts: Hosts & { then?: FollowingPhases | undefined; publishing?: Publishing },
) => Promise<PhaseOutcome>

const createRunScript = ({ store, sandbox, tools, crash }: EnginePorts, options: EngineOptions): RunScript => {
  const operationsOf = createContextOperations(tools)
  return async (run, script, phase, args, { host, agent, then, publishing }) => {
    if (!hasHandler(script, run)) {
      const message = `Version ${String(script.version)} of the script has no ${run.handlerType} "${run.handlerName}" any more. Bring it back, or skip these events.`
      return { kind: 'failed', failure: failure('logic', message) }
    }
    crash.reach('before_script')
    const outcome = await sandbox.runPhase({
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
    })
    crash.reach('after_script')
    if (outcome.kind !== 'returned' || outcome.value === undefined || !isTextTooDeep(outcome.value)) return outcome
    const reason = `What ${phase} returned ${TOO_DEEP}. Return something flatter.`
    return { kind: 'failed', failure: failure('logic', reason) }
  }
}

const failureOf = (outcome: PhaseOutcome): Failure =>
  outcome.kind === 'failed'
    ? outcome.failure
    : failure('internal', `The sandbox ended the script with "${outcome.kind}" where that means nothing.`)

const stateOf = (outcome: PhaseOutcome, { maxStateBytes }: EngineOptions): Result<JsonText | undefined, Failure> => {
  if (outcome.kind !== 'returned') return err(failureOf(outcome))
  const { value } = outcome
  if (value === undefined || value.length <= maxStateBytes) return ok(value)
  const size = `${String(Math.ceil(value.length / 1024))} KiB`
  const limit = `${String(Math.floor(maxStateBytes / 1024))} KiB`
  return err(
    failure(
      'logic',
      `The handler returned ${size} of state; at most ${limit} are kept. Keep only what the next run needs.`,
    ),
  )
}
