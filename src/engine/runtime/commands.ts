import { engineError } from '../model/errors.ts'
import type { EscalationAction } from '../model/escalation.ts'
import { escalationActions } from '../model/escalation.ts'
import type { Json } from '../model/json.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import type { ScriptProblem } from '../ports/sandbox.ts'
import { parsePublish } from '../script/topic-calls.ts'
import { validateScript } from '../script/validate.ts'
import type { EnginePorts } from './ports.ts'
import type { Scheduler } from './scheduler.ts'
import type { SchedulerState } from './scheduler-state.ts'
import type { Transitions } from './transitions/index.ts'
import { unknownWorkflow } from './transitions/workflows.ts'

export interface DeployRequest {
  source: string
  name?: string
  workflowId?: string
  /** A draft stays a draft until it is resumed. */
  activate?: boolean
  /** `declared`: everything the script asks for; a list: just these. What was granted before stays granted. */
  grant?: 'declared' | 'none' | readonly string[]
}

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
  const { store, sandbox, durability, crash } = ports

  const answer = async <T>(workflowId: string, result: Result<T>): Promise<Result<T>> => {
    if (!result.ok) return result
    scheduler.touch(workflowId)
    scheduler.look()
    await durability.barrier()
    return result
  }

  const deployWorkflow = async (request: DeployRequest): Promise<Result<Deployed>> => {
    if (typeof request.source !== 'string' || request.source.trim() === '') {
      return err(engineError('invalid_input', 'There is no script to deploy: `source` must be its text.'))
    }
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
    async (id: string): Promise<Result<null>> => {
      const moved = transitions.moveWorkflow(id, event)
      return answer(id, moved.ok ? ok(null) : moved)
    }

  const runWorkflow = async (id: string): Promise<Result<{ runId: string }>> => {
    const workflow = store.workflows.get(id)
    const refused = runRefusal(id, workflow, scheduler.isBusy(id))
    if (refused !== null || workflow === undefined) return err(refused ?? unknownWorkflow(id))
    const left = store.scriptRuns.openOf(id)
    if (left !== undefined) transitions.closeRun(left.id, 'completed')
    const run = transitions.openRun(workflow, 'manual')
    for (const producer of Object.keys(configOf(workflow).producers)) flags.queue(id, producer)
    for (const consumer of Object.keys(configOf(workflow).consumers)) flags.markDirty(id, consumer)
    return answer(id, ok({ runId: run.id }))
  }

  const publishEvent = async (workflowId: string, topic: string, event: Json): Promise<Result<null>> => {
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

  const resolveEscalation = async (id: string, action: string, value?: Json): Promise<Result<null>> => {
    if (!isAction(action)) {
      const known = escalationActions.map((name) => `"${name}"`).join(', ')
      return err(engineError('invalid_input', `There is no action "${action}". The actions are ${known}.`))
    }
    const resolved = transitions.resolveEscalation(id, action, value === undefined ? null : JSON.stringify(value))
    if (!resolved.ok) return resolved
    crash.reach('escalation_resolved')
    return answer(resolved.value.workflowId, ok(null))
  }

  const deleteWorkflow = async (id: string): Promise<Result<null>> => {
    const deleted = transitions.deleteWorkflow(id)
    return answer(id, deleted.ok ? ok(null) : deleted)
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

const runRefusal = (id: string, workflow: Workflow | undefined, isBusy: boolean) => {
  if (workflow === undefined) return unknownWorkflow(id)
  if (workflow.status !== 'active') {
    return engineError('workflow_paused', `"${workflow.name}" is ${workflow.status}. Resume it, then run it.`)
  }
  if (workflow.block !== null) {
    return engineError('workflow_blocked', `"${workflow.name}" needs you first: ${workflow.block.message}`)
  }
  if (isBusy) {
    return engineError('run_active', `A handler of "${workflow.name}" is running. Wait until it has finished.`)
  }
  return null
}

const isAction = (action: string): action is EscalationAction =>
  (escalationActions as readonly string[]).includes(action)

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
