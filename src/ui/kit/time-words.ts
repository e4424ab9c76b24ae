import { once } from './once.ts'

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

const relative = once(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' }))
const exact = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }))
const clock = once(
  () => new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }),
)

/** "3 min. ago", "in 8 sec.", "now". */
export function relativeTime(at: number, now: number): string {
  const distance = at - now
  for (const [unit, ms] of UNITS) {
    if (Math.abs(distance) >= ms) return relative().format(Math.trunc(distance / ms), unit)
  }
  return 'now'
}

export const exactTime = (at: number): string => exact().format(at)

/** "14:03:22.518": where order within a second matters. */
export const clockTime = (at: number): string => `${clock().format(at)}.${String(at % 1_000).padStart(3, '0')}`

/** "820 ms", "4.2 s", "3 min 5 s", "2 h 10 min", "3 d 4 h". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return joined([Math.floor(seconds / 60), 'min'], [seconds % 60, 's'])
  if (seconds < 86_400) return joined([Math.floor(seconds / 3_600), 'h'], [Math.floor((seconds % 3_600) / 60), 'min'])
  return joined([Math.floor(seconds / 86_400), 'd'], [Math.floor((seconds % 86_400) / 3_600), 'h'])
}

const joined = (...parts: [number, string][]): string =>
  parts
    .filter(([count], i) => i === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
