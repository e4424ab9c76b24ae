import { EngineBug, failure } from '../../model/errors.ts'
import type { Failure } from '../../model/errors.ts'
import type { HandlerRun } from '../../model/handler-run.ts'
import type { JsonText } from '../../model/json.ts'
import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import type { Workflow } from '../../model/workflow.ts'
import type { FollowingPhases, PhaseOutcome, Publishing, ScriptPhase } from '../../ports/sandbox.ts'
import type { AttemptHost } from '../phase-host.ts'
import type { EngineOptions, EnginePorts } from '../ports.ts'
import type { LoadedScript, ScriptLoader } from '../script-loader.ts'
import type { AgentHost } from '../sessions/agent-host.ts'
import { createAgentHost, findAgent } from '../sessions/agent-host.ts'
import type { Transitions } from '../transitions/index.ts'
import type { Later, Step } from './step.ts'

export interface Hosts {
  host: AttemptHost
  /** When the workflow is that of an agent. */
  agent: AgentHost | undefined
}

/** Runs one phase and settles what came of it: at once, where that lies here already. */
export type RunScript = (
  run: HandlerRun,
  script: LoadedScript,
  phase: ScriptPhase,
  args: readonly JsonText[],
  hosts: Hosts & { then?: FollowingPhases | undefined; publishing?: Publishing },
  settle: (outcome: PhaseOutcome) => Later | undefined,
) => Later | undefined

/** A step that needs the script, and waits for one that is not here yet. */
export const withScript =
  (
    scripts: ScriptLoader,
    step: (run: HandlerRun, workflow: Workflow, script: LoadedScript) => Later | undefined,
  ): Step =>
  (run, workflow) => {
    const script = scripts.atHand(run.scriptId)
    if (script !== undefined) return step(run, workflow, script)
    return async () => {
      const loaded = await scripts.load(run.scriptId)
      return () => step(run, workflow, loaded)
    }
  }

/**
 * A retry runs the version that is active now, and that may not have the handler any more. Before the boundary there is nothing
 * to finish: the events go back, and nobody is asked about a handler that was taken away on purpose.
 */
export const cancelIfGone = (transitions: Transitions, run: HandlerRun, script: LoadedScript): boolean => {
  if (hasHandler(script, run)) return false
  const reason = `Version ${String(script.version)} of the script has no ${run.handlerType} "${run.handlerName}" any more, so there is nothing to retry.`
  const cancelled = transitions.cancelAttempt(run.id, reason)
  if (!cancelled.ok) throw new EngineBug(cancelled.error.message)
  return true
}

export const hasHandler = ({ config }: LoadedScript, run: HandlerRun): boolean =>
  Object.hasOwn(run.handlerType === 'producer' ? config.producers : config.consumers, run.handlerName)

export const agentHostFor = (
  { store }: EnginePorts,
  options: EngineOptions,
  workflow: Workflow,
): AgentHost | undefined => {
  const agent = findAgent(store, workflow)
  return agent === undefined ? undefined : createAgentHost(store, agent, options.maxStateBytes)
}

export const failureOf = (outcome: PhaseOutcome): Failure =>
  outcome.kind === 'failed'
    ? outcome.failure
    : failure('internal', `The sandbox ended the script with "${outcome.kind}" where that means nothing.`)

export const stateOf = (
  outcome: PhaseOutcome,
  { maxStateBytes }: EngineOptions,
): Result<JsonText | undefined, Failure> => {
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
