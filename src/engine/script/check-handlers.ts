import { parseSchedule } from '../machine/schedule.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { ConsumerConfig, ProducerConfig } from '../model/workflow.ts'
import { ownProperty, quoteAll } from './json-kind.ts'
import { nameProblem } from './names.ts'
import {
  isFunctionShape,
  isPlainShape,
  shapeKindOf,
  warnOfUnknownKeys,
  type ShapePath,
  type ShapeReport,
} from './shape.ts'
import { closestOf } from './suggestion.ts'

type HandlerKind = 'producer' | 'consumer'

/** Checks the producers or the consumers of a workflow and returns them by name, in the order they are written. */
function checkGroup<T>(
  report: ShapeReport,
  kind: HandlerKind,
  group: Json | undefined,
  check: (handler: JsonObject, path: ShapePath, owner: string) => T,
): Map<string, T> {
  const handlers = new Map<string, T>()
  const path = [`${kind}s`]
  if (group === undefined || group === null) return handlers
  if (!isPlainShape(group)) {
    report.error(
      path,
      `The ${kind}s are ${shapeKindOf(group)}. They must be an object with one entry for each ${kind}.`,
    )
    return handlers
  }
  for (const name of Object.keys(group)) {
    const handler = ownProperty(group, name)
    const handlerPath = [...path, name]
    const problem = nameProblem(kind, name)
    if (problem !== undefined) report.error(handlerPath, problem)
    if (isPlainShape(handler)) handlers.set(name, check(handler, handlerPath, `The ${kind} ${JSON.stringify(name)}`))
    else
      report.error(handlerPath, `The ${kind} ${JSON.stringify(name)} is ${shapeKindOf(handler)}. It must be an object.`)
  }
  return handlers
}

export function checkProducers(
  report: ShapeReport,
  group: Json | undefined,
  topics: readonly string[],
): Map<string, ProducerConfig> {
  return checkGroup(report, 'producer', group, (producer, path, owner) => {
    warnOfUnknownKeys(report, path, producer, ['schedule', 'publishes', 'handler'], owner)
    checkFunction(report, path, producer, 'handler', owner, 'required')
    return {
      schedule: checkSchedule(report, path, ownProperty(producer, 'schedule'), owner),
      publishes: checkTopicList(report, path, producer, 'publishes', owner, topics),
    }
  })
}

export function checkConsumers(
  report: ShapeReport,
  group: Json | undefined,
  topics: readonly string[],
): Map<string, ConsumerConfig> {
  return checkGroup(report, 'consumer', group, (consumer, path, owner) => {
    warnOfUnknownKeys(report, path, consumer, ['subscribe', 'publishes', 'prepare', 'mutate', 'next'], owner)
    checkFunction(report, path, consumer, 'prepare', owner, 'required')
    const subscribe = checkTopicList(report, path, consumer, 'subscribe', owner, topics)
    if (isMissingOrEmpty(ownProperty(consumer, 'subscribe')))
      report.error([...path, 'subscribe'], `${owner} subscribes to no topic. Name at least one in subscribe.`)
    const publishes = checkTopicList(report, path, consumer, 'publishes', owner, topics)
    const hasMutate = checkFunction(report, path, consumer, 'mutate', owner, 'optional')
    const hasNext = checkFunction(report, path, consumer, 'next', owner, 'optional')
    if (publishes.length > 0 && !hasNext)
      report.warning(
        [...path, 'publishes'],
        `${owner} declares topics in publishes but has no next, the only phase of a consumer that may publish.`,
      )
    return { subscribe, publishes, hasMutate, hasNext }
  })
}

const isMissingOrEmpty = (list: Json | undefined): boolean =>
  list === undefined || list === null || (Array.isArray(list) && list.length === 0)

function checkFunction(
  report: ShapeReport,
  path: ShapePath,
  handler: JsonObject,
  key: string,
  owner: string,
  need: 'required' | 'optional',
): boolean {
  const value = ownProperty(handler, key)
  if (isFunctionShape(value)) return true
  if (value !== undefined)
    report.error([...path, key], `${owner} has a ${key} that is ${shapeKindOf(value)}. It must be a function.`)
  else if (need === 'required')
    report.error(path, `${owner} has no ${key}. Add the function: async ${key}(state, ctx) { … }.`)
  return false
}

/** With a mistake in it any schedule will do: the config is not used then. */
function checkSchedule(
  report: ShapeReport,
  path: ShapePath,
  value: Json | undefined,
  owner: string,
): ProducerConfig['schedule'] {
  if (value === undefined) {
    report.error(
      path,
      `${owner} has no schedule. Add one: schedule: { interval: "5m" } or schedule: { cron: "0 9 * * *" }.`,
    )
    return { interval: '1h' }
  }
  const schedulePath = [...path, 'schedule']
  const schedule = parseSchedule(isPlainShape(value) ? value : null)
  if (!schedule.ok) {
    report.error(schedulePath, `${owner} has no valid schedule. ${schedule.error}`)
    return { interval: '1h' }
  }
  if (isPlainShape(value)) {
    warnOfUnknownKeys(
      report,
      schedulePath,
      value,
      ['interval', 'cron', 'timezone'],
      `The schedule of ${lowerFirst(owner)}`,
    )
    if ('interval' in schedule.value && Object.hasOwn(value, 'timezone'))
      report.warning(
        [...schedulePath, 'timezone'],
        `The time zone of ${lowerFirst(owner)} has no effect: an interval is the same everywhere.`,
      )
  }
  return schedule.value
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The declared topics among those that a handler names; what is wrong with the others is reported. */
function checkTopicList(
  report: ShapeReport,
  path: ShapePath,
  handler: JsonObject,
  key: string,
  owner: string,
  topics: readonly string[],
): string[] {
  const list = ownProperty(handler, key)
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) {
    report.error(
      [...path, key],
      `${owner} has a ${key} that is ${shapeKindOf(list)}. It must be an array of topic names.`,
    )
    return []
  }
  const found = new Set<string>()
  for (const [index, topic] of list.entries()) {
    const at = [...path, key, String(index)]
    if (typeof topic !== 'string')
      report.error(at, `${owner} names ${shapeKindOf(topic)} in ${key}. It must be the name of a topic.`)
    else if (!topics.includes(topic)) report.error(at, undeclared(owner, key, topic, topics))
    else if (found.has(topic)) report.warning(at, `${owner} names the topic "${topic}" twice in ${key}.`)
    else found.add(topic)
  }
  return [...found]
}

function undeclared(owner: string, key: string, topic: string, topics: readonly string[]): string {
  const meant = closestOf(topic, topics)
  const advice =
    meant === undefined
      ? `Add it to topics, which has ${quoteAll(topics)}.`
      : `Did you mean "${meant}"? Otherwise add it to topics.`
  return `${owner} names the topic ${JSON.stringify(topic.slice(0, 100))} in ${key}, which is not declared. ${advice}`
}
