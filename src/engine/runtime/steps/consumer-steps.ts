import type { Failure } from '../../model/errors.ts'
import type { ConsumerPhase, HandlerRun } from '../../model/handler-run.ts'
import type { JsonText } from '../../model/json.ts'
import type { Workflow } from '../../model/workflow.ts'
import type { FollowingPhases, Publishing, ScriptPhase } from '../../ports/sandbox.ts'
import { parsePrepareResult } from '../../script/prepare-result.ts'
import type { MutationCaller } from '../mutation-call.ts'
import type { AttemptHost } from '../phase-host.ts'
import { createAttemptHost } from '../phase-host.ts'
import type { EngineOptions, EnginePorts } from '../ports.ts'
import { reservationsOf } from '../reservations.ts'
import type { LoadedScript, ScriptLoader } from '../script-loader.ts'
import { noTrace } from '../transitions/attempts.ts'
import type { Transitions } from '../transitions/index.ts'
import { noSessionWrites } from '../transitions/session-writes.ts'
import type { Hosts, RunScript } from './script-steps.ts'
import { agentHostFor, cancelIfGone, failureOf, stateOf, withScript } from './script-steps.ts'
import type { Step } from './step.ts'

export const createConsumerSteps = (
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
