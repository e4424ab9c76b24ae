import { engineError } from './errors.ts'
import type { Json } from './json.ts'
import { err, ok, type Result } from './result.ts'

export interface TestEvent {
  topic: string
  messageId: string
  title?: string
  payload?: Json
}

/** What a handler is tried on: what it remembers, and the events that wait for it. */
export interface TestInput {
  state: Json
  events: TestEvent[]
}

const EXAMPLE = '{ "state": null, "events": [{ "topic": "…", "messageId": "…", "payload": {} }] }'

/** Whether it has the shape of an input. Whether its topics exist is known where the script is. */
export function parseTestInput(value: unknown): Result<TestInput> {
  if (!isObject(value)) return refuse(`The input must be an object, such as ${EXAMPLE}.`)
  const unknown = Object.keys(value).find((key) => key !== 'state' && key !== 'events')
  if (unknown !== undefined)
    return refuse(`The input has "${unknown}", which means nothing. It has "state" and "events".`)
  const { state = null, events = [] } = value
  if (!Array.isArray(events)) return refuse('"events" must be a list, such as [] for none.')
  const problem = events.map(problemOf).find((found) => found !== null)
  return problem === undefined ? ok({ state: state as Json, events: events as TestEvent[] }) : refuse(problem)
}

function problemOf(event: unknown, index: number): string | null {
  const name = `Event ${index + 1}`
  if (!isObject(event)) return `${name} must be an object with a "topic", a "messageId" and a "payload".`
  if (!isName(event['topic'])) return `${name} needs a "topic": the name of one that the handler subscribes to.`
  if (!isName(event['messageId'])) return `${name} needs a "messageId": a text that no other event of its topic has.`
  if (event['title'] !== undefined && typeof event['title'] !== 'string')
    return `The "title" of event ${index + 1} must be a text.`
  return null
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isName = (value: unknown): boolean => typeof value === 'string' && value !== ''

const refuse = (message: string) => err(engineError('invalid_input', message))
