import type { Json } from '../model/json.ts'
import { err, ok, type Result } from '../model/result.ts'
import { kindOf } from './json-kind.ts'

const MIN_WAKE_MS = 30 * 1000
const MAX_WAKE_MS = 24 * 60 * 60 * 1000
const ISO_8601 = /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/

/**
 * When a consumer asks to be woken, moved into the window that is allowed; null when it does not ask. `Date.parse` alone would
 * take far more than ISO 8601, and 31 February as 3 March.
 */
export function parseWakeAt(wakeAt: Json | undefined, now: number): Result<number | null, string> {
  if (wakeAt === undefined || wakeAt === null) return ok(null)
  if (typeof wakeAt !== 'string')
    return err(`wakeAt is ${kindOf(wakeAt)}. It must be an ISO 8601 string: new Date(…).toISOString() makes one.`)
  const [text, year, month, day, zone] = ISO_8601.exec(wakeAt) ?? []
  const at = text === undefined || !isDay(Number(year), Number(month), Number(day)) ? NaN : Date.parse(text)
  if (Number.isNaN(at))
    return err(`wakeAt "${wakeAt.slice(0, 100)}" is not an ISO 8601 time such as "2026-01-31T09:00:00Z".`)
  if (wakeAt.includes('T') && zone === undefined)
    return err(
      `wakeAt "${wakeAt}" does not say which time zone it means. End it with "Z" for UTC or an offset such as "+02:00".`,
    )
  return ok(Math.min(Math.max(at, now + MIN_WAKE_MS), now + MAX_WAKE_MS))
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
