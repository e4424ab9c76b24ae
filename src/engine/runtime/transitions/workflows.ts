import { decideMove } from '../../machine/move-table.ts'
import { parseSchedule } from '../../machine/schedule.ts'
import type { WorkflowEvent } from '../../machine/statuses.ts'
import { workflowTable } from '../../machine/statuses.ts'
import { EngineBug, engineError } from '../../model/errors.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import type { ProducerConfig, ProducerSchedule, Workflow, WorkflowConfig } from '../../model/workflow.ts'
import { limitsKey } from '../workflow-limits.ts'
import type { Transition } from './context.ts'

export interface Deployment {
  workflowId: string | null
  name: string
  source: string
  config: WorkflowConfig
  /** Added to what was granted before. */
  granted: readonly string[]
  activate: boolean
}

export const deploy = (
  transition: Transition,
  deployment: Deployment,
): Result<{ workflowId: string; version: number }> => {
  const { tx, ids, note } = transition
  const found = existingOrNew(transition, deployment)
  if (!found.ok) return found
  const workflow = found.value
  const version = workflow.activeVersion + 1
  const config = JSON.stringify(deployment.config)
  const scriptId = ids.next('scr')
  const { now } = transition
  tx.scripts.insert({
    id: scriptId,
    workflowId: workflow.id,
    version,
    source: deployment.source,
    config,
    createdAt: now,
  })
  tx.workflows.setActiveScript(
    workflow.id,
    { name: deployment.name, activeScriptId: scriptId, activeVersion: version, handlerConfig: config },
    now,
  )
  tx.workflows.setPermissions(workflow.id, [...new Set([...workflow.permissions, ...deployment.granted])], now)
  tx.topics.ensure(workflow.id, deployment.config.topics, now)
  putSchedules(transition, workflow.id, deployment.config.producers)
  wakeConsumers(transition, workflow, deployment.config)
  // Whether an agent's workflow runs is for its session to say.
  const mayActivate = deployment.activate && workflow.sessionId === null
  if (mayActivate && workflow.status !== 'active') tx.workflows.setStatus(workflow.id, 'active', now)
  note({ kind: 'deployed', workflowId: workflow.id, consumers: Object.keys(deployment.config.consumers) })
  return ok({ workflowId: workflow.id, version })
}

const existingOrNew = ({ tx, now, ids }: Transition, deployment: Deployment): Result<Workflow> => {
  if (deployment.workflowId !== null) {
    const existing = tx.workflows.get(deployment.workflowId)
    if (existing === undefined) return err(unknownWorkflow(deployment.workflowId))
    if (existing.status === 'archived') {
      return err(
        engineError(
          'illegal_transition',
          `"${existing.name}" is archived. Restore it before you deploy a new version.`,
        ),
      )
    }
    return ok(existing)
  }
  const workflow = newWorkflow(ids.next('wf'), deployment.name, now)
  tx.workflows.insert(workflow)
  return ok(workflow)
}

const newWorkflow = (id: string, name: string, now: number): Workflow => ({
  id,
  name,
  status: 'draft',
  block: null,
  activeScriptId: null,
  activeVersion: 0,
  handlerConfig: '{}',
  permissions: [],
  timezone: null,
  budget: defaultBudget,
  retryPolicy: null,
  retentionDays: null,
  sessionId: null,
  createdAt: now,
  updatedAt: now,
})

/** An agent's own workflow, with the one version it is pinned to. It waits as a draft until its session starts it. */
export const createPrivateWorkflow = (
  { tx, now, ids }: Transition,
  sessionId: string,
  agent: { key: string; source: string; config: WorkflowConfig },
): string => {
  const config = JSON.stringify(agent.config)
  const scriptId = ids.next('scr')
  const workflow: Workflow = {
    ...newWorkflow(ids.next('wf'), agent.key, now),
    activeScriptId: scriptId,
    activeVersion: 1,
    handlerConfig: config,
    permissions: agent.config.permissions,
    sessionId,
  }
  tx.workflows.insert(workflow)
  tx.scripts.insert({ id: scriptId, workflowId: workflow.id, version: 1, source: agent.source, config, createdAt: now })
  tx.topics.ensure(workflow.id, agent.config.topics, now)
  return workflow.id
}

const defaultBudget = 100

export const belongsToSession = ({ name, sessionId }: Workflow) =>
  engineError(
    'illegal_transition',
    `"${name}" is the private workflow of an agent. Steer its session ${String(sessionId)} instead.`,
  )

export const unknownWorkflow = (id: string) => engineError('not_found', `There is no workflow "${id}".`)

/** A schedule that did not change keeps its beat; a new or changed one is due now; one that is gone is dropped. */
export const putSchedules = (
  { tx, now }: Transition,
  workflowId: string,
  producers: Readonly<Record<string, ProducerConfig>>,
): void => {
  const before = new Map(tx.producerSchedules.forWorkflow(workflowId).map((row) => [row.producerName, row]))
  for (const [producerName, { schedule }] of Object.entries(producers)) {
    const kept = before.get(producerName)
    before.delete(producerName)
    const row = scheduleRow(workflowId, producerName, schedule, now)
    if (kept === undefined || !isSameSchedule(kept, row)) tx.producerSchedules.put(row, now)
  }
  for (const removed of before.keys()) tx.producerSchedules.remove(workflowId, removed)
}

const scheduleRow = (
  workflowId: string,
  producerName: string,
  schedule: ProducerConfig['schedule'],
  now: number,
): ProducerSchedule => {
  const checked = parseSchedule(schedule)
  if (!checked.ok) throw new EngineBug(`A schedule that was not validated reached the store: ${checked.error}`)
  const base = { workflowId, producerName, nextRunAt: now, lastRunAt: null }
  return 'interval' in schedule
    ? { ...base, scheduleType: 'interval', scheduleValue: schedule.interval, timezone: null }
    : { ...base, scheduleType: 'cron', scheduleValue: schedule.cron, timezone: schedule.timezone ?? null }
}

const isSameSchedule = (a: ProducerSchedule, b: ProducerSchedule): boolean =>
  a.scheduleType === b.scheduleType && a.scheduleValue === b.scheduleValue && a.timezone === b.timezone

/**
 * A new version lets every consumer look once. That is a flag in memory, and for those who looked before it is also a wake time,
 * which a crash does not lose (one that never looked is dirty at every start). A wake time of a consumer that no longer exists
 * would come due for ever.
 */
const wakeConsumers = ({ tx, now }: Transition, workflow: Workflow, config: WorkflowConfig): void => {
  for (const { handlerName, wakeAt } of tx.handlerStates.forWorkflow(workflow.id)) {
    if (Object.hasOwn(config.consumers, handlerName)) tx.handlerStates.setWakeAt(workflow.id, handlerName, now, now)
    else if (wakeAt !== null) tx.handlerStates.setWakeAt(workflow.id, handlerName, null, now)
  }
}

export const moveWorkflow = ({ tx, now }: Transition, id: string, event: WorkflowEvent): Result<Workflow> => {
  const workflow = tx.workflows.get(id)
  if (workflow === undefined) return err(unknownWorkflow(id))
  if (workflow.sessionId !== null) return err(belongsToSession(workflow))
  const status = decideMove(workflowTable, workflow.status, event)
  if (!status.ok) return status
  tx.workflows.setStatus(id, status.value, now)
  return ok({ ...workflow, status: status.value })
}

export const deleteWorkflow = ({ tx, note }: Transition, id: string): Result<void> => {
  const workflow = tx.workflows.get(id)
  if (workflow === undefined) return err(unknownWorkflow(id))
  if (workflow.sessionId !== null) return err(belongsToSession(workflow))
  tx.settings.remove(limitsKey(id))
  tx.workflows.delete(id)
  note({ kind: 'deleted', workflowId: id })
  return ok(undefined)
}
