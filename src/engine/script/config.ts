import { EngineBug } from '../model/errors.ts'
import type { Json, JsonObject, JsonText } from '../model/json.ts'
import type { ConsumerConfig, ProducerConfig, Schedule, WorkflowConfig } from '../model/workflow.ts'
import { isJsonObject, ownProperty } from './json-kind.ts'

const MAX_CACHED = 500

/** Handlers may be called `constructor` or `toString`: a record of them must not inherit any. */
export function nullPrototypeRecord<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record = Object.create(null) as Record<string, T>
  for (const [key, value] of entries) record[key] = value
  return record
}

/** Reads back what was stored with a script. Only we write it, so anything unexpected in it is a mistake of ours. */
export function parseWorkflowConfig(text: JsonText): WorkflowConfig {
  const config = objectOf(JSON.parse(text) as Json)
  return {
    name: stringOf(ownProperty(config, 'name')),
    permissions: stringsOf(ownProperty(config, 'permissions')),
    topics: stringsOf(ownProperty(config, 'topics')),
    producers: recordOf(ownProperty(config, 'producers'), producerOf),
    consumers: recordOf(ownProperty(config, 'consumers'), consumerOf),
  }
}

const producerOf = (producer: JsonObject): ProducerConfig => ({
  schedule: scheduleOf(objectOf(ownProperty(producer, 'schedule'))),
  publishes: stringsOf(ownProperty(producer, 'publishes')),
})

/** Not checked again: a time zone that this browser does not know must not make the whole workflow unreadable. */
function scheduleOf(schedule: JsonObject): Schedule {
  const interval = ownProperty(schedule, 'interval')
  if (typeof interval === 'string') return { interval }
  const cron = stringOf(ownProperty(schedule, 'cron'))
  const timezone = ownProperty(schedule, 'timezone')
  return timezone === undefined ? { cron } : { cron, timezone: stringOf(timezone) }
}

const consumerOf = (consumer: JsonObject): ConsumerConfig => ({
  subscribe: stringsOf(ownProperty(consumer, 'subscribe')),
  publishes: stringsOf(ownProperty(consumer, 'publishes')),
  hasMutate: ownProperty(consumer, 'hasMutate') === true,
  hasNext: ownProperty(consumer, 'hasNext') === true,
})

const recordOf = <T>(value: Json | undefined, toItem: (item: JsonObject) => T): Record<string, T> =>
  nullPrototypeRecord(Object.entries(objectOf(value)).map(([key, item]) => [key, toItem(objectOf(item))]))

function objectOf(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) throw damaged('an object is missing')
  return value
}

function stringOf(value: Json | undefined): string {
  if (typeof value !== 'string') throw damaged('a string is missing')
  return value
}

function stringsOf(value: Json | undefined): string[] {
  if (!Array.isArray(value)) throw damaged('a list is missing')
  return value.map(stringOf)
}

const damaged = (what: string) => new EngineBug(`The stored configuration of a workflow cannot be read: ${what}`)

/** A version never changes, so its configuration is parsed once. */
export interface ConfigCache {
  get(workflowId: string, version: number, text: JsonText): WorkflowConfig
}

export function createConfigCache(): ConfigCache {
  const configs = new Map<string, WorkflowConfig>()
  return {
    get(workflowId, version, text) {
      const key = JSON.stringify([workflowId, version])
      const cached = configs.get(key)
      if (cached !== undefined) return cached
      const config = parseWorkflowConfig(text)
      if (configs.size >= MAX_CACHED) configs.delete(configs.keys().next().value ?? '')
      configs.set(key, config)
      return config
    },
  }
}
