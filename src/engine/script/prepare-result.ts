import { failure, type Failure } from '../model/errors.ts'
import type { Json, JsonObject, JsonText } from '../model/json.ts'
import type { PrepareResult, Reservation } from '../model/prepare-result.ts'
import { err, ok, type Result } from '../model/result.ts'
import { isJsonObject, kindOf, ownProperty, quoteAll } from './json-kind.ts'
import { parseWakeAt } from './wake-at.ts'

const SHAPE = '{ reservations: [{ topic, ids: [messageId] }], data }'

/**
 * Checks what `prepare` returned. Each mistake is a logic failure with a sentence of its own. Whether the reserved events exist
 * and are pending is not known here: the transaction that reserves them says so.
 */
export function parsePrepareResult(
  value: JsonText | undefined,
  { now, subscribe }: { now: number; subscribe: readonly string[] },
): Result<PrepareResult, Failure> {
  const returned = value === undefined ? undefined : (JSON.parse(value) as Json)
  if (value === undefined || !isJsonObject(returned))
    return refuse(
      `prepare returned ${kindOf(returned)}. It must return ${SHAPE}; with nothing to do, reservations: [].`,
    )

  const reservations = parseReservations(ownProperty(returned, 'reservations'), subscribe)
  if (!reservations.ok) return refuse(reservations.error)
  const wakeAt = parseWakeAt(ownProperty(returned, 'wakeAt'), now)
  if (!wakeAt.ok) return refuse(`In what prepare returned, ${wakeAt.error}`)
  const ui = parseUi(ownProperty(returned, 'ui'))
  if (!ui.ok) return refuse(ui.error)
  return ok({ reservations: reservations.value, wakeAt: wakeAt.value, ui: ui.value, text: value })
}

const refuse = (sentence: string): Result<never, Failure> => err(failure('logic', sentence))

/** An entry without ids reserves nothing and is left out: `ids: events.map(…)` over no events means "nothing to do". */
function parseReservations(value: Json | undefined, subscribe: readonly string[]): Result<Reservation[], string> {
  if (!Array.isArray(value))
    return err(
      `prepare returned ${value === undefined ? 'no reservations' : `reservations that are ${kindOf(value)}`}. ` +
        `It must return ${SHAPE}; with nothing to do, reservations: [].`,
    )
  const reservations: Reservation[] = []
  const seen = new Set<string>()
  for (const [index, entry] of value.entries()) {
    const reservation = parseReservation(entry, `reservations[${index}]`, subscribe)
    if (!reservation.ok) return reservation
    for (const id of reservation.value.ids) {
      const key = JSON.stringify([reservation.value.topic, id])
      if (seen.has(key))
        return err(
          `prepare reserved the event ${JSON.stringify(id)} of the topic "${reservation.value.topic}" twice. Name each id once.`,
        )
      seen.add(key)
    }
    if (reservation.value.ids.length > 0) reservations.push(reservation.value)
  }
  return ok(reservations)
}

function parseReservation(entry: Json, where: string, subscribe: readonly string[]): Result<Reservation, string> {
  if (!isJsonObject(entry))
    return err(`prepare returned ${where} as ${kindOf(entry)}. Each reservation is { topic, ids: [messageId] }.`)
  const topic = ownProperty(entry, 'topic')
  if (typeof topic !== 'string' || topic === '')
    return err(`prepare returned ${where} ${withKind('topic', topic)}. It must be the name of a subscribed topic.`)
  if (!subscribe.includes(topic))
    return err(
      `prepare reserved events of the topic ${JSON.stringify(topic)}, which this consumer does not subscribe to ` +
        `(it subscribes to ${quoteAll(subscribe)}). Add the topic to subscribe, or reserve from one that is there.`,
    )
  const ids = ownProperty(entry, 'ids')
  if (!Array.isArray(ids))
    return err(`prepare returned ${where} ${withKind('ids', ids)}. It must be an array of message ids.`)
  const wrong = ids.findIndex((id) => typeof id !== 'string' || id === '')
  if (wrong >= 0)
    return err(
      `prepare returned ${where}.ids[${wrong}] as ${kindOf(ids[wrong])}. Each id is the messageId of an event, a string that is not empty.`,
    )
  return ok({ topic, ids: ids as string[] })
}

const withKind = (key: string, value: Json | undefined): string =>
  value === undefined ? `without ${key}` : `whose ${key} ${key === 'ids' ? 'are' : 'is'} ${kindOf(value)}`

function parseUi(value: Json | undefined): Result<JsonObject | null, string> {
  if (value === undefined || value === null) return ok(null)
  if (!isJsonObject(value))
    return err(`prepare returned a ui that is ${kindOf(value)}. It must be an object such as { title: "Add row" }.`)
  const title = ownProperty(value, 'title')
  if (title !== undefined && typeof title !== 'string')
    return err(`prepare returned a ui.title that is ${kindOf(title)}. It must be a string.`)
  return ok(value)
}
