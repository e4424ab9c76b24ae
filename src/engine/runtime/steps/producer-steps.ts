import type { ProducerPhase } from '../../model/handler-run.ts'
import { createAttemptHost } from '../phase-host.ts'
import type { EngineOptions, EnginePorts } from '../ports.ts'
import type { ScriptLoader } from '../script-loader.ts'
import type { Transitions } from '../transitions/index.ts'
import type { RunScript } from './script-steps.ts'
import { agentHostFor, cancelIfGone, stateOf, withScript } from './script-steps.ts'
import type { Step } from './step.ts'

export const createProducerSteps = (
  ports: EnginePorts,
  options: EngineOptions,
  transitions: Transitions,
  scripts: ScriptLoader,
  runScript: RunScript,
): Readonly<Record<ProducerPhase, Step | undefined>> => ({
  pending: (run) => {
    transitions.advance(run, 'begun')
    return undefined
  },
  executing: withScript(scripts, (run, workflow, script) => {
    if (cancelIfGone(transitions, run, script)) return undefined
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
    return runScript(run, script, 'producer', args, { host, agent, publishing }, (outcome) => {
      const state = stateOf(outcome, options)
      if (state.ok) transitions.commitProducer(run, { state: state.value, drafts: host.drafts(), trace: host.trace() })
      else transitions.failAttempt(run, { failure: state.error, trace: host.trace(), touched: [] })
      ports.crash.reach(state.ok ? 'attempt_committed' : 'attempt_failed')
      return undefined
    })
  }),
  committed: undefined,
})
