import type { Json } from '../model/json.ts'
import type { WorkflowConfig } from '../model/workflow.ts'
import type { WorkflowShape } from '../ports/sandbox.ts'
import { checkConsumers, checkProducers } from './check-handlers.ts'
import { nullPrototypeRecord } from './config.ts'
import { ownProperty } from './json-kind.ts'
import { nameProblem, workflowNameProblem } from './names.ts'
import {
  createShapeReport,
  isPlainShape,
  shapeKindOf,
  warnOfUnknownKeys,
  type ShapeProblem,
  type ShapeReport,
} from './shape.ts'

const EXAMPLE =
  'Write: export default defineWorkflow({ name: "…", topics: { … }, producers: { … }, consumers: { … } }).'

/** Every rule of a workflow object. The config is only good when there are no errors among the problems. */
export function checkShape(shape: WorkflowShape | null): { config: WorkflowConfig; problems: readonly ShapeProblem[] } {
  const report = createShapeReport()
  return { config: checkWorkflow(report, shape), problems: report.problems }
}

function checkWorkflow(report: ShapeReport, shape: WorkflowShape | null): WorkflowConfig {
  if (!isPlainShape(shape)) {
    const what = shape === null ? 'has no workflow' : `has a workflow that is ${shapeKindOf(shape)}, not an object`
    report.error([], `The script ${what}. ${EXAMPLE}`)
    return { name: '', permissions: [], topics: [], producers: {}, consumers: {} }
  }
  warnOfUnknownKeys(report, [], shape, ['name', 'permissions', 'topics', 'producers', 'consumers'], 'The workflow')
  const name = checkName(report, ownProperty(shape, 'name'))
  const permissions = checkPermissions(report, ownProperty(shape, 'permissions'))
  const topics = checkTopics(report, ownProperty(shape, 'topics'))
  const producers = checkProducers(report, ownProperty(shape, 'producers'), topics)
  const consumers = checkConsumers(report, ownProperty(shape, 'consumers'), topics)
  const config = {
    name,
    permissions,
    topics,
    producers: nullPrototypeRecord(producers),
    consumers: nullPrototypeRecord(consumers),
  }
  if (isEmptyGroup(ownProperty(shape, 'producers')) && isEmptyGroup(ownProperty(shape, 'consumers')))
    report.error([], 'The workflow has neither a producer nor a consumer: it would never do anything. Add one of them.')
  checkSharedNames(report, config)
  checkTopicUse(report, config)
  return config
}

const isEmptyGroup = (group: Json | undefined): boolean =>
  group === undefined || group === null || (isPlainShape(group) && Object.keys(group).length === 0)

function checkName(report: ShapeReport, name: Json | undefined): string {
  if (typeof name !== 'string') {
    report.error(
      name === undefined ? [] : ['name'],
      name === undefined
        ? 'The workflow has no name. Add one: name: "Inbox triage".'
        : `The workflow has a name that is ${shapeKindOf(name)}. It must be a string.`,
    )
    return ''
  }
  const problem = workflowNameProblem(name)
  if (problem !== undefined) report.error(['name'], problem)
  return name
}

function checkPermissions(report: ShapeReport, permissions: Json | undefined): string[] {
  if (permissions === undefined || permissions === null) return []
  if (!Array.isArray(permissions)) {
    report.error(
      ['permissions'],
      `The permissions are ${shapeKindOf(permissions)}. They must be an array of strings, such as ["http:api.example.com"].`,
    )
    return []
  }
  const found = new Set<string>()
  for (const [index, permission] of permissions.entries()) {
    const path = ['permissions', String(index)]
    if (typeof permission !== 'string' || permission === '')
      report.error(
        path,
        `A permission is ${shapeKindOf(permission)}. It must be a string such as "http:api.example.com".`,
      )
    else if (found.has(permission))
      report.warning(path, `The permission ${JSON.stringify(permission)} is asked for twice.`)
    else found.add(permission)
  }
  return [...found]
}

function checkTopics(report: ShapeReport, topics: Json | undefined): string[] {
  if (topics === undefined || topics === null) return []
  if (!isPlainShape(topics)) {
    report.error(
      ['topics'],
      `The topics are ${shapeKindOf(topics)}. They must be an object with one entry for each topic, such as { "email.received": {} }.`,
    )
    return []
  }
  for (const topic of Object.keys(topics)) {
    const problem = nameProblem('topic', topic)
    if (problem !== undefined) report.error(['topics', topic], problem)
    const value = ownProperty(topics, topic)
    if (!isPlainShape(value))
      report.error(
        ['topics', topic],
        `The topic ${JSON.stringify(topic)} is ${shapeKindOf(value)}. It must be an object: {}.`,
      )
  }
  return Object.keys(topics)
}

/** A handler's state is kept under its name alone. */
function checkSharedNames(report: ShapeReport, { producers, consumers }: WorkflowConfig): void {
  for (const name of Object.keys(consumers))
    if (Object.hasOwn(producers, name))
      report.error(
        ['consumers', name],
        `${JSON.stringify(name)} is the name of both a producer and a consumer. Rename one: each keeps its state under its name.`,
      )
}

function checkTopicUse(report: ShapeReport, { topics, producers, consumers }: WorkflowConfig): void {
  const published = new Set(
    [...Object.values(producers), ...Object.values(consumers)].flatMap(({ publishes }) => publishes),
  )
  const subscribed = new Set(Object.values(consumers).flatMap(({ subscribe }) => subscribe))
  for (const topic of topics) {
    if (subscribed.has(topic)) continue
    if (published.has(topic))
      report.warning(
        ['topics', topic],
        `The topic ${JSON.stringify(topic)} is published but no consumer subscribes to it: its events stay pending.`,
      )
    else report.warning(['topics', topic], `The topic ${JSON.stringify(topic)} is declared but not used.`)
  }
}
