import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextBeat, parseSchedule } from '#engine/machine/schedule.ts'
import type { Schedule } from '#engine/model/workflow.ts'

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const moments = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) })
const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu')
const intervals = fc
  .tuple(fc.integer({ min: 1, max: 366 }), fc.constantFrom<keyof typeof UNIT_MS>('s', 'm', 'h', 'd'))
  .map(([count, unit]) => ({ interval: `${count}${unit}`, ms: count * UNIT_MS[unit] }))
  .filter(({ ms }) => ms >= 10_000)

const list = (min: number, max: number) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map((values) => values.join(','))
const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    list(min, max),
    fc.integer({ min: 2, max: Math.min(max, 9) }).map((step) => `*/${step}`),
    fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  )
const crons = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '))
const schedules: fc.Arbitrary<Schedule> = fc.oneof(
  intervals.map(({ interval }) => ({ interval })),
  crons.map((cron) => ({ cron })),
)

describe('every schedule', () => {
  it('has its next beat strictly after the given moment', () => {
    fc.assert(
      fc.property(schedules, moments, moments, zones, (schedule, due, after, zone) => {
        expect(parseSchedule(schedule).ok).toBe(true)
        expect(nextBeat(schedule, due, after, zone)).toBeGreaterThan(after)
      }),
    )
  })

  it('leaves out no beat: just before its next beat, that beat is still the next', () => {
    fc.assert(
      fc.property(schedules, moments, moments, zones, (schedule, due, after, zone) => {
        const beat = nextBeat(schedule, due, after, zone)
        expect(nextBeat(schedule, due, beat - 1, zone)).toBe(beat)
      }),
    )
  })

  it('never goes back: a later moment has the same next beat or a later one', () => {
    fc.assert(
      fc.property(
        schedules,
        moments,
        moments,
        fc.integer({ min: 0, max: 90 * 86_400_000 }),
        zones,
        (schedule, due, after, later, zone) => {
          expect(nextBeat(schedule, due, after + later, zone)).toBeGreaterThanOrEqual(
            nextBeat(schedule, due, after, zone),
          )
        },
      ),
    )
  })
})

describe('an interval', () => {
  it('stays on the beat of its due time and within one interval', () => {
    fc.assert(
      fc.property(intervals, moments, moments, zones, ({ interval, ms }, due, after, zone) => {
        const beat = nextBeat({ interval }, due, after, zone)
        expect(Math.abs(beat - due) % ms).toBe(0)
        expect(beat - after).toBeLessThanOrEqual(ms)
      }),
    )
  })
})

describe('a time of the day', () => {
  const localTime = (moment: number, timeZone: string) => {
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      dateStyle: 'short',
      timeStyle: 'short',
      hourCycle: 'h23',
    })
      .format(moment)
      .split(', ')
    return { day: parts[0], time: parts[1] }
  }

  it('comes exactly once a day in every time zone, whatever the clocks do', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        moments,
        zones,
        (hour, minute, from, zone) => {
          const schedule = { cron: `${minute} ${hour} * * *` }
          const days: (string | undefined)[] = []
          for (let at = from, count = 0; count < 20; count += 1) {
            at = nextBeat(schedule, from, at, zone)
            days.push(localTime(at, zone).day)
          }
          expect(new Set(days).size).toBe(days.length)
          const span = (Date.parse(isoDay(days.at(-1))) - Date.parse(isoDay(days[0]))) / 86_400_000
          expect(span).toBe(days.length - 1)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('is the hour and minute asked for, except on a day that does not have them', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        moments,
        zones,
        (hour, minute, from, zone) => {
          const beat = nextBeat({ cron: `${minute} ${hour} * * *` }, from, from, zone)
          expect(localTime(beat, zone).time).toBe(`${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
        },
      ),
    )
  })

  /** 29/03/2026 → 2026-03-29 */
  const isoDay = (day = ''): string => day.split('/').reverse().join('-')
})
