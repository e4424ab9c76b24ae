import { Cron, CronPattern } from 'croner'
import { EngineBug } from '../model/errors.ts'
import { err, ok, type Result } from '../model/result.ts'
import type { Schedule } from '../model/workflow.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const MIN_INTERVAL_MS = 10 * 1000
const MAX_INTERVAL_MS = 366 * DAY_MS
const UNIT_MS = { s: 1000, m: 60 * 1000, h: 60 * 60 * 1000, d: DAY_MS }

const FIVE_FIELDS =
  'A cron expression has five fields (minute, hour, day of month, month, day of week), such as "*/5 * * * *"'
const CRON_FIELDS = [
  { name: 'minute', takes: '0-59' },
  { name: 'hour', takes: '0-23' },
  { name: 'day of month', takes: '1-31, L for the last day' },
  { name: 'month', takes: '1-12 or JAN-DEC' },
  { name: 'day of week', takes: '0-7 or SUN-SAT, where 0 and 7 are Sunday' },
]
/** The library reads `5*` as 5 and the like; what looks like a typing mistake is refused instead. */
const FIELD_PART = /^\+?(?:[*?]|(?:\d+|[a-z]{3})(?:-(?:\d+|[a-z]{3}))?|\d+[lw]|[a-z]{3}l|lw?)(?:\/\d+)?(?:#\d+)?$/i

/** Any fixed moment will do: whether an expression ever fires does not depend on today. */
const SOME_MOMENT = new Date(Date.UTC(2000, 0, 1))
/** From here on "at these times of the day" reads as "all day long". */
const CLOCK_TIMES_LIMIT = 24

export function isTimeZone(name: string): boolean {
  // Newer engines also take offsets such as "+02:00": these are no time zones, they know no daylight saving.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Checks what a script says under `schedule`. The error is a sentence for the author of the script. */
export function parseSchedule(schedule: unknown): Result<Schedule, string> {
  if (typeof schedule !== 'object' || schedule === null || Array.isArray(schedule))
    return err('A schedule is an object: { interval: "5m" } or { cron: "*/5 * * * *" }.')
  const { interval, cron, timezone } = schedule as { interval?: unknown; cron?: unknown; timezone?: unknown }
  if (interval !== undefined && cron !== undefined)
    return err('A schedule has either an interval or a cron expression, this one has both. Remove one of them.')
  if (interval !== undefined) return parseInterval(interval)
  if (cron !== undefined) return parseCron(cron, timezone)
  return err('A schedule needs an interval or a cron expression: { interval: "5m" } or { cron: "*/5 * * * *" }.')
}

function parseInterval(interval: unknown): Result<Schedule, string> {
  const ms = typeof interval === 'string' ? intervalToMs(interval) : undefined
  if (typeof interval !== 'string' || ms === undefined)
    return err(
      `${quote(interval)} is not an interval. Write a whole number and a unit (s, m, h or d), such as "30s", "5m", "1h" or "7d".`,
    )
  if (ms < MIN_INTERVAL_MS) return err(`The interval "${interval}" is too short: the shortest is "10s".`)
  if (ms > MAX_INTERVAL_MS) return err(`The interval "${interval}" is too long: the longest is "366d".`)
  return ok({ interval })
}

function intervalToMs(interval: string): number | undefined {
  const match = /^(\d+)([smhd])$/.exec(interval)
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined
}

function parseCron(cron: unknown, timezone: unknown): Result<Schedule, string> {
  if (typeof cron !== 'string') return err(`${quote(cron)} is not a cron expression. ${FIVE_FIELDS}.`)
  if (timezone !== undefined && (typeof timezone !== 'string' || !isTimeZone(timezone)))
    return err(`${quote(timezone)} is not a time zone. Write an IANA name such as "Europe/Berlin" or "UTC".`)
  const problem = cronProblem(cron)
  if (problem !== undefined) return err(problem)
  if (new Cron(cron, { mode: '5-part', timezone: 'UTC' }).nextRun(SOME_MOMENT) === null)
    return err(`The cron expression "${cron}" never fires: no date ever matches it.`)
  return ok(timezone === undefined ? { cron } : { cron, timezone })
}

function cronProblem(cron: string): string | undefined {
  const fields = cronFields(cron)
  if (fields.length !== CRON_FIELDS.length)
    return `${FIVE_FIELDS}; "${cron}" has ${fields.length === 1 ? 'one' : fields.length}.`
  for (const [index, { name, takes }] of CRON_FIELDS.entries()) {
    const field = fields[index] ?? ''
    // One field at a time, so that the sentence can name the wrong one.
    const alone = CRON_FIELDS.map((_, at) => (at === index ? field : '*')).join(' ')
    if (!field.split(',').every((part) => FIELD_PART.test(part)) || !isCronPattern(alone))
      return `The ${name} "${field}" in the cron expression "${cron}" cannot be read: it takes ${takes}, "*", lists (1,3), ranges (1-5) and steps (*/5).`
  }
  return undefined
}

function isCronPattern(cron: string): boolean {
  try {
    new CronPattern(cron, undefined, { mode: '5-part' })
    return true
  } catch {
    return false
  }
}

const cronFields = (cron: string): string[] => cron.match(/\S+/g) ?? []

const quote = (value: unknown): string =>
  typeof value === 'string' ? `"${value}"` : `A value of type ${value === null ? 'null' : typeof value}`

/**
 * The first beat strictly after `after`. An interval keeps the beat of `dueAt`, however many beats have passed or however
 * the clock was moved. The schedule's own time zone goes before `timezone`. The schedule must have been parsed.
 */
export function nextBeat(schedule: Schedule, dueAt: number, after: number, timezone: string): number {
  if ('interval' in schedule) {
    const ms = intervalToMs(schedule.interval)
    if (ms === undefined || ms === 0) throw new EngineBug(`The interval "${schedule.interval}" was never checked`)
    return dueAt + (Math.floor((after - dueAt) / ms) + 1) * ms
  }
  const zone = schedule.timezone ?? timezone
  const beats = clockTimes(schedule.cron).map((cron) => nextCronBeat(cron, after, zone))
  return Math.min(...beats)
}

/**
 * Where a beat belongs that was planned before the clock was set back. By less than a beat: where it is, because the one before it
 * was served. By more: with the time as it is now, or it would be waited for until the clock is back where it was.
 */
export function beatAfterSetBack(schedule: Schedule, plannedAt: number, now: number, timezone: string): number {
  const first = nextBeat(schedule, plannedAt, now, timezone)
  return plannedAt > nextBeat(schedule, plannedAt, first, timezone) ? first : plannedAt
}

function nextCronBeat(cron: string, after: number, timezone: string): number {
  const next = new Cron(cron, { mode: '5-part', timezone }).nextRun(new Date(after))
  if (next === null) throw new EngineBug(`The cron expression "${cron}" has no beat after ${after}`)
  return next.getTime()
}

/**
 * A time of the day that daylight saving leaves out is served when the clock has jumped, one that comes twice is served once;
 * an expression that runs through the day ("every ten minutes") follows real time instead. The library takes only a single
 * minute and hour for a time of the day, so "30 2,14 * * *" is asked as two expressions.
 */
function clockTimes(cron: string): string[] {
  const [minute = '', hour = '', ...date] = cronFields(cron)
  if (/[*?]/.test(minute + hour)) return [cron]
  const pattern = new CronPattern(cron, undefined, { mode: '5-part' })
  const minutes = setIndices(pattern.minute)
  const hours = setIndices(pattern.hour)
  if (minutes.length * hours.length >= CLOCK_TIMES_LIMIT) return [cron]
  return hours.flatMap((h) => minutes.map((m) => [m, h, ...date].join(' ')))
}

const setIndices = (flags: readonly number[]): number[] => flags.flatMap((flag, index) => (flag ? [index] : []))
