/**
 * The beats of a schedule, found without the engine's own code: from what a clock on the wall of that zone shows. A time that is
 * left out is served when the clock has jumped, one that comes twice is served once.
 */
export type BeatPlan = { everyMs: number; from: number } | { hour: number; minute: number; timeZone: string }

const DAY_MS = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

const offsetAt = (moment: number, timeZone: string): number => {
  const known = formats.get(timeZone)
  const format =
    known ??
    new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  formats.set(timeZone, format)
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(moment / 1000) * 1000
}

/** When the clock of that zone jumped, between two moments with different offsets. */
const jumpBetween = (from: number, to: number, timeZone: string): number => {
  let [low, high] = [from, to]
  const before = offsetAt(low, timeZone)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle, timeZone) === before) low = middle
    else high = middle
  }
  return high
}

const onDay = (midnight: number, { hour, minute, timeZone }: Exclude<BeatPlan, { everyMs: number }>): number => {
  const shown = midnight + hour * 3_600_000 + minute * 60_000
  const around = [shown - DAY_MS, shown + DAY_MS].map((moment) => offsetAt(moment, timeZone))
  const candidates = around.map((offset) => shown - offset).sort((a, b) => a - b)
  const real = candidates.find((moment) => moment + offsetAt(moment, timeZone) === shown)
  return real ?? jumpBetween(shown - DAY_MS, shown + DAY_MS, timeZone)
}

/** The last beat at or before `now`. */
export const lastBeat = (plan: BeatPlan, now: number): number => {
  if ('everyMs' in plan) return plan.from + Math.floor((now - plan.from) / plan.everyMs) * plan.everyMs
  const today = Math.floor((now + offsetAt(now, plan.timeZone)) / DAY_MS) * DAY_MS
  const beats = [today + DAY_MS, today, today - DAY_MS, today - 2 * DAY_MS].map((midnight) => onDay(midnight, plan))
  return beats.find((beat) => beat <= now) ?? 0
}
