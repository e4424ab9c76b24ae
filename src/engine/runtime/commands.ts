import { engineError } from '../model/errors.ts'
import type { Json } from '../model/json.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import type { ScriptProblem } from '../ports/sandbox.ts'
import { parsePublish } from '../script/topic-calls.ts'
import { validateScript } from '../script/validate.ts'
import type { DeployRequest } from './command-input.ts'
import { parseAction, parseDeploy, parseId, parseJson, parseOptionalJson, parseTopicName } from './command-input.ts'
import type { UsedUp } from './daily-limits.ts'
import { costUsedUp, usedUpSentence } from './daily-limits.ts'
import type { EnginePorts } from './ports.ts'
import type { Scheduler } from './scheduler.ts'
import type { SchedulerState } from './scheduler-state.ts'
import type { Transitions } from './transitions/index.ts'
import { belongsToSession, unknownWorkflow } from './transitions/workflows.ts'

export interface Deployed {
  workflowId: string
  version: number
  warnings: ScriptProblem[]
}

interface CommandParts {
  ports: EnginePorts
  transitions: Transitions
  scheduler: Scheduler
  flags: SchedulerState
  configOf(workflow: Workflow): WorkflowConfig
}

/** What a person can tell the engine to do. Each is on disk before it is answered, and causes an immediate look for work. */
export const createCommands = ({ ports, transitions, scheduler, flags, configOf }: CommandParts) => {
  const { store, clock, sandbox, durability, crash } = ports

  const answer = async <T>(workflowId: string, result: Result<T>): Promise<Result<T>> => {
    if (!result.ok) return result
    scheduler.touch(workflowId)
    scheduler.look()
    try {
      await durability.barrier()
    } catch {
      return err(
        engineError('read_only', 'Another tab has taken over meanwhile: nothing was saved. Try it again there.'),
      )
    }
    return result
  }

  const deployWorkflow = async (wanted: DeployRequest): Promise<Result<Deployed>> => {
    const parsed = parseDeploy(wanted)
    if (!parsed.ok) return parsed
    const request = parsed.value
    const checked = await validateScript(sandbox, request.source)
    if (!checked.ok) return err(invalidScript(checked.error))
    const { config, warnings } = checked.value
    const grant = request.grant ?? 'declared'
    const deployed = transitions.deploy({
      workflowId: request.workflowId ?? null,
      name: request.name ?? config.name,
      source: request.source,
      config,
      granted: grant === 'declared' ? config.permissions : grant === 'none' ? [] : grant,
      activate: request.activate ?? true,
    })
    if (!deployed.ok) return deployed
    return answer(deployed.value.workflowId, ok({ ...deployed.value, warnings }))
  }

  const move =
    (event: 'activated' | 'paused' | 'archived' | 'restored') =>
    async (wanted: string): Promise<Result<null>> => {
      const id = parseId('a workflow', wanted)
      if (!id.ok) return id
      const moved = transitions.moveWorkflow(id.value, event)
      return answer(id.value, moved.ok ? ok(null) : moved)
    }

  /** An attempt that waits between two phases for its turn is active as well. */
  const hasActiveHandler = (id: string): boolean => scheduler.isBusy(id) || store.handlerRuns.activeOf(id) !== undefined

  const runWorkflow = async (wanted: string): Promise<Result<{ runId: string }>> => {
    const parsed = parseId('a workflow', wanted)
    if (!parsed.ok) return parsed
    const id = parsed.value
    const workflow = store.workflows.get(id)
    if (workflow === undefined) return err(unknownWorkflow(id))
    if (workflow.sessionId !== null) return err(belongsToSession(workflow))
    const refused = runRefusal(workflow, hasActiveHandler(id), costUsedUp(store, id, clock.now(), 0))
    if (refused !== null) return err(refused)
    const left = store.scriptRuns.openOf(id)
    if (left !== undefined) transitions.closeRun(left.id, 'completed')
    const run = transitions.openRun(workflow, 'manual')
    for (const producer of Object.keys(configOf(workflow).producers)) flags.queue(id, producer)
    for (const consumer of Object.keys(configOf(workflow).consumers)) flags.markDirty(id, consumer)
    return answer(id, ok({ runId: run.id }))
  }

  const publishEvent = async (id: string, topicName: string, wanted: unknown): Promise<Result<null>> => {
    const parsedId = parseId('a workflow', id)
    if (!parsedId.ok) return parsedId
    const parsedTopic = parseTopicName(topicName)
    if (!parsedTopic.ok) return parsedTopic
    const event = parseJson('event', wanted)
    if (!event.ok) return event
    return publish(parsedId.value, parsedTopic.value, event.value)
  }

  const publish = async (workflowId: string, topic: string, event: Json): Promise<Result<null>> => {
    const workflow = store.workflows.get(workflowId)
    if (workflow === undefined) return err(unknownWorkflow(workflowId))
    const { topics } = configOf(workflow)
    if (!topics.includes(topic)) {
      const known = topics.map((name) => `"${name}"`).join(', ')
      return err(engineError('unknown_topic', `"${workflow.name}" has no topic "${topic}". It has ${known || 'none'}.`))
    }
    const draft = parsePublish([topic, event], topics)
    if (!draft.ok) return err(engineError('invalid_input', draft.error.message))
    transitions.publishByHand(workflowId, draft.value)
    return answer(workflowId, ok(null))
  }

  const resolveEscalation = async (wanted: string, wantedAction: string, value?: Json): Promise<Result<null>> => {
    const id = parseId('an escalation', wanted)
    if (!id.ok) return id
    const action = parseAction(wantedAction)
    if (!action.ok) return action
    const result = parseOptionalJson('result', value)
    if (!result.ok) return result
    const resolved = transitions.resolveEscalation(id.value, action.value, result.value)
    if (!resolved.ok) return resolved
    crash.reach('escalation_resolved')
    return answer(resolved.value.workflowId, ok(null))
  }

  const deleteWorkflow = async (wanted: string): Promise<Result<null>> => {
    const id = parseId('a workflow', wanted)
    if (!id.ok) return id
    const deleted = transitions.deleteWorkflow(id.value)
    return answer(id.value, deleted.ok ? ok(null) : deleted)
  }

  return {
    deployWorkflow,
    pauseWorkflow: move('paused'),
    resumeWorkflow: move('activated'),
    archiveWorkflow: move('archived'),
    restoreWorkflow: move('restored'),
    deleteWorkflow,
    runWorkflow,
    publishEvent,
    resolveEscalation,
  }
}

const runRefusal = (workflow: Workflow, isActive: boolean, overspent: UsedUp | null) => {
  if (workflow.status !== 'active') {
    return engineError('workflow_paused', `"${workflow.name}" is ${workflow.status}. Resume it, then run it.`)
  }
  if (workflow.block !== null) {
    return engineError('workflow_blocked', `"${workflow.name}" needs you first: ${workflow.block.message}`)
  }
  if (overspent !== null) return engineError('workflow_blocked', usedUpSentence(overspent))
  if (isActive) {
    return engineError('run_active', `A handler of "${workflow.name}" is running. Wait until it has finished.`)
  }
  return null
}

const invalidScript = (problems: readonly ScriptProblem[]) => {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const [first] = errors
  const where = first === undefined ? '' : ` Line ${String(first.line)}: ${first.message}`
  const count = errors.length === 1 ? 'one problem' : `${String(errors.length)} problems`
  return engineError(
    'invalid_script',
    `The script has ${count} and was not deployed.${where}`,
    problems.map(({ severity, message, line, column }) => ({ severity, message, line, column })),
  )
}
