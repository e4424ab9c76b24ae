import { failure, type Failure } from '../model/errors.ts'
import type { EventDraft } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import { err, ok, type Result } from '../model/result.ts'
import { isJsonObject, kindOf, ownProperty, quoteAll } from './json-kind.ts'

const MAX_MESSAGE_ID_CHARS = 512
const DEFAULT_PEEK_LIMIT = 100
const MAX_PEEK_LIMIT = 1000

/** `topics.publish(topic, { messageId, title?, payload? })` */
export function parsePublish(args: readonly Json[], publishes: readonly string[]): Result<EventDraft, Failure> {
  const topic = parseTopic('publish', args[0], 'publishes', publishes)
  if (!topic.ok) return topic
  const event = args[1]
  if (!isJsonObject(event))
    return refuse('publish', `the event is ${kindOf(event)}, not an object { messageId, title, payload }.`)
  const messageId = parseMessageId(ownProperty(event, 'messageId'))
  if (!messageId.ok) return refuse('publish', messageId.error)
  const title = ownProperty(event, 'title') ?? null
  if (title !== null && typeof title !== 'string')
    return refuse('publish', `the title is ${kindOf(title)}, not a string.`)
  if (title !== null && !isStorable(title)) return refuse('publish', `the title ${UNSTORABLE}`)
  return ok({
    topic: topic.value,
    messageId: messageId.value,
    title,
    payload: JSON.stringify(ownProperty(event, 'payload') ?? null),
  })
}

/** `topics.peek(topic, { limit? })` */
export function parsePeek(
  args: readonly Json[],
  subscribe: readonly string[],
): Result<{ topic: string; limit: number }, Failure> {
  const topic = parseTopic('peek', args[0], 'subscribe', subscribe)
  if (!topic.ok) return topic
  const options = args[1] ?? {}
  if (!isJsonObject(options))
    return refuse('peek', `the second argument is ${kindOf(options)}, not an object { limit }.`)
  const limit = ownProperty(options, 'limit') ?? DEFAULT_PEEK_LIMIT
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_PEEK_LIMIT)
    return refuse(
      'peek',
      `the limit is ${typeof limit === 'number' ? limit : kindOf(limit)}. It must be a whole number from 1 to ${MAX_PEEK_LIMIT}.`,
    )
  return ok({ topic: topic.value, limit })
}

/** `topics.getByIds(topic, [messageId, …])` */
export function parseGetByIds(
  args: readonly Json[],
  subscribe: readonly string[],
): Result<{ topic: string; ids: string[] }, Failure> {
  const topic = parseTopic('getByIds', args[0], 'subscribe', subscribe)
  if (!topic.ok) return topic
  const ids = args[1]
  if (!Array.isArray(ids)) return refuse('getByIds', `the ids are ${kindOf(ids)}, not an array of message ids.`)
  if (ids.length > MAX_PEEK_LIMIT)
    return refuse('getByIds', `${ids.length} ids are too many: ask for at most ${MAX_PEEK_LIMIT} at a time.`)
  const wrong = ids.findIndex((id) => typeof id !== 'string' || id === '')
  if (wrong >= 0)
    return refuse('getByIds', `ids[${wrong}] is ${kindOf(ids[wrong])}. Each id is a string that is not empty.`)
  return ok({ topic: topic.value, ids: ids as string[] })
}

const refuse = (method: string, sentence: string): Result<never, Failure> =>
  err(failure('logic', `topics.${method}: ${sentence}`))

function parseTopic(
  method: string,
  topic: Json | undefined,
  key: string,
  declared: readonly string[],
): Result<string, Failure> {
  if (typeof topic !== 'string' || topic === '')
    return refuse(method, `the first argument is ${kindOf(topic)}. It must be the name of a topic.`)
  if (declared.includes(topic)) return ok(topic)
  return refuse(
    method,
    `the topic ${JSON.stringify(topic.slice(0, 100))} is not among the topics that this handler declares in ${key} ` +
      `(${quoteAll(declared)}). Add it there.`,
  )
}

/** Text columns end at U+0000 and hold no half of a surrogate pair: such an id would come back as another one. */
const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text)
const UNSTORABLE =
  'contains a character that cannot be stored: U+0000, or half of a surrogate pair (an emoji cut in two).'

function parseMessageId(messageId: Json | undefined): Result<string, string> {
  if (messageId === undefined || messageId === null)
    return err(
      'the event has no messageId. It must be a string that is the same whenever the same thing is published again.',
    )
  if (typeof messageId !== 'string')
    return err(`the messageId is ${kindOf(messageId)}, not a string. Use String(…) to make it one.`)
  if (!isStorable(messageId)) return err(`the messageId ${UNSTORABLE}`)
  if (messageId === '') return err('the messageId is an empty string.')
  if (messageId.length > MAX_MESSAGE_ID_CHARS)
    return err(`the messageId is ${messageId.length} characters long; at most ${MAX_MESSAGE_ID_CHARS} are allowed.`)
  return ok(messageId)
}
