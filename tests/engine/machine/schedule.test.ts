import { afterEach, describe, expect, it, vi } from 'vitest'
import { isTimeZone, nextBeat, parseSchedule } from '#engine/machine/schedule.ts'
import type { Schedule } from '#engine/model/workflow.ts'

const at = (iso: string): number => Date.parse(iso)
const problem = (schedule: unknown): string => {
  const parsed = parseSchedule(schedule)
  if (parsed.ok) throw new Error(`accepted ${JSON.stringify(parsed.value)}`)
  return parsed.error
}
/** The next beats of a schedule, in UTC. */
const beats = (schedule: Schedule, from: string, count: number, timezone = 'UTC'): string[] => {
  const found: string[] = []
  for (let after = at(from); found.length < count;) {
    after = nextBeat(schedule, after, after, timezone)
    found.push(new Date(after).toISOString().replace(':00.000Z', 'Z'))
  }
  return found
}

describe('a schedule of a script', () => {
  it.each(['10s', '90s', '5m', '1h', '36h', '7d', '366d', '010s'])('takes the interval %s', (interval) => {
    expect(parseSchedule({ interval })).toEqual({ ok: true, value: { interval } })
  })

  it.each(['', '5', 'm', '5 m', '-5m', '1.5h', '5M', '5w', '5m ', '1h30m', '٥m'])(
    'refuses the interval "%s" and shows how one looks',
    (interval) => {
      expect(problem({ interval })).toBe(
        `"${interval}" is not an interval. Write a whole number and a unit (s, m, h or d), such as "30s", "5m", "1h" or "7d".`,
      )
    },
  )

  it.each([
    [300, 'number'],
    [true, 'boolean'],
    [null, 'null'],
    [{}, 'object'],
    [['5m'], 'object'],
  ])('refuses %j as an interval', (interval, type) => {
    expect(problem({ interval })).toContain(`A value of type ${type} is not an interval.`)
  })

  it('refuses an interval below ten seconds', () => {
    expect(problem({ interval: '9s' })).toBe('The interval "9s" is too short: the shortest is "10s".')
    expect(problem({ interval: '0d' })).toBe('The interval "0d" is too short: the shortest is "10s".')
  })

  it('refuses an interval above a leap year', () => {
    expect(problem({ interval: '367d' })).toBe('The interval "367d" is too long: the longest is "366d".')
    expect(problem({ interval: `${'9'.repeat(400)}s` })).toContain('is too long')
  })

  it.each([
    '*/5 * * * *',
    '0 9 * * MON-FRI',
    '0 0 29 2 *',
    '15 10 L * *',
    '0 12 * * FRI#2',
    '0 12 15W * *',
    '0,30 9-17 * jan,dec 1-5',
    ' 0  9 * * * ',
  ])('takes the cron expression "%s"', (cron) => {
    expect(parseSchedule({ cron })).toEqual({ ok: true, value: { cron } })
  })

  it.each([
    ['', 0],
    ['@daily', 'one'],
    ['* * * *', 4],
    ['0 */5 * * * *', 6],
    ['2030-01-01T10:00:00', 'one'],
  ])('takes five fields only: "%s" is refused', (cron, count) => {
    expect(problem({ cron })).toBe(
      `A cron expression has five fields (minute, hour, day of month, month, day of week), such as "*/5 * * * *"; "${cron}" has ${count}.`,
    )
  })

  it.each([
    ['60 * * * *', 'minute "60"', '0-59'],
    ['5* * * * *', 'minute "5*"', '0-59'],
    ['*/0 * * * *', 'minute "*/0"', '0-59'],
    ['1, * * * *', 'minute "1,"', '0-59'],
    ['10:30 * * * *', 'minute "10:30"', '0-59'],
    ['0 24 * * *', 'hour "24"', '0-23'],
    ['0 0 0 * *', 'day of month "0"', '1-31'],
    ['0 0 32 * *', 'day of month "32"', '1-31'],
    ['0 0 * 13 *', 'month "13"', '1-12'],
    ['0 0 * foo *', 'month "foo"', '1-12'],
    ['0 0 * * 8', 'day of week "8"', '0-7'],
    ['0 0 * * fri-mon', 'day of week "fri-mon"', '0-7'],
  ])('names the field of "%s" that cannot be read', (cron, field, takes) => {
    expect(problem({ cron })).toContain(
      `The ${field} in the cron expression "${cron}" cannot be read: it takes ${takes}`,
    )
  })

  it('refuses a cron expression that never fires', () => {
    expect(problem({ cron: '0 0 31 2 *' })).toBe(
      'The cron expression "0 0 31 2 *" never fires: no date ever matches it.',
    )
    expect(problem({ cron: '0 0 31 4,6,9,11 *' })).toContain('never fires')
  })

  it('refuses a cron expression that is not a string', () => {
    expect(problem({ cron: 5 })).toContain('A value of type number is not a cron expression.')
  })

  it('keeps a time zone that exists and refuses one that does not', () => {
    const schedule = { cron: '0 9 * * *', timezone: 'Europe/Berlin' }
    expect(parseSchedule(schedule)).toEqual({ ok: true, value: schedule })
    expect(problem({ ...schedule, timezone: 'Berlin' })).toBe(
      '"Berlin" is not a time zone. Write an IANA name such as "Europe/Berlin" or "UTC".',
    )
    expect(problem({ ...schedule, timezone: '+02:00' })).toContain('"+02:00" is not a time zone')
    expect(problem({ ...schedule, timezone: '' })).toContain('"" is not a time zone')
    expect(problem({ ...schedule, timezone: 2 })).toContain('A value of type number is not a time zone')
  })

  it.each([undefined, null, '5m', 300, true, ['5m']])('refuses %j, which is no object', (schedule) => {
    expect(problem(schedule)).toBe('A schedule is an object: { interval: "5m" } or { cron: "*/5 * * * *" }.')
  })

  it('refuses both an interval and a cron expression, and neither', () => {
    expect(problem({ interval: '5m', cron: '* * * * *' })).toContain('this one has both')
    expect(problem({})).toContain('needs an interval or a cron expression')
  })

  it('knows time zones by their IANA name only', () => {
    expect(['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu'].every(isTimeZone)).toBe(true)
    expect(['', '+01:00', 'Mars/Olympus', 'Europe/Berlin '].some(isTimeZone)).toBe(false)
  })
})

describe('the next beat', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('of an interval is the due time just served plus the interval, however long the handler took', () => {
    const due = at('2026-05-01T10:00:00Z')
    expect(nextBeat({ interval: '5m' }, due, due, 'UTC')).toBe(at('2026-05-01T10:05:00Z'))
    expect(nextBeat({ interval: '5m' }, due, due + 299_999, 'UTC')).toBe(at('2026-05-01T10:05:00Z'))
  })

  it('of an interval skips the beats that passed while the tab was closed', () => {
    expect(nextBeat({ interval: '5m' }, at('2026-05-01T10:00:00Z'), at('2026-05-03T07:07:30Z'), 'UTC')).toBe(
      at('2026-05-03T07:10:00Z'),
    )
  })

  it('of an interval stays near when the clock was set back by a year', () => {
    expect(nextBeat({ interval: '5m' }, at('2026-05-01T10:00:00Z'), at('2025-05-01T09:58:00Z'), 'UTC')).toBe(
      at('2025-05-01T10:00:00Z'),
    )
  })

  it('does not depend on the real time', () => {
    const schedule = { cron: '15 3 * * *' }
    const answers = ['1999-01-01', '2026-03-29', '2150-07-01'].map((today) => {
      vi.useFakeTimers({ now: at(today) })
      return beats(schedule, '2026-03-01T00:00:00Z', 3, 'Europe/Berlin')
    })
    expect(new Set(answers.map(String)).size).toBe(1)
  })

  it('of a cron expression follows its own time zone before the given one', () => {
    expect(beats({ cron: '0 9 * * *' }, '2026-01-10T00:00:00Z', 1, 'America/New_York')).toEqual(['2026-01-10T14:00Z'])
    expect(
      beats({ cron: '0 9 * * *', timezone: 'Europe/Berlin' }, '2026-01-10T00:00:00Z', 1, 'America/New_York'),
    ).toEqual(['2026-01-10T08:00Z'])
  })

  it('keeps nine in the morning at nine in the morning across both changes of the clock', () => {
    expect(beats({ cron: '0 9 * * *' }, '2026-03-28T00:00:00Z', 2, 'Europe/Berlin')).toEqual([
      '2026-03-28T08:00Z',
      '2026-03-29T07:00Z',
    ])
    expect(beats({ cron: '0 9 * * *' }, '2026-10-31T12:00:00-04:00', 2, 'America/New_York')).toEqual([
      '2026-11-01T14:00Z',
      '2026-11-02T14:00Z',
    ])
  })

  it('serves a time of the day that the spring change leaves out, once the clock has jumped', () => {
    expect(beats({ cron: '30 2 * * *' }, '2026-03-28T12:00:00Z', 2, 'Europe/Berlin')).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ])
    expect(beats({ cron: '30 2 * * *' }, '2026-03-07T12:00:00Z', 2, 'America/New_York')).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ])
  })

  it('serves a time of the day that the autumn change repeats only once', () => {
    expect(beats({ cron: '30 2 * * *' }, '2026-10-24T12:00:00Z', 2, 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ])
    expect(beats({ cron: '30 1 * * *' }, '2026-10-31T12:00:00Z', 2, 'America/New_York')).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ])
  })

  it('treats several times of the day like one: neither lost in spring nor doubled in autumn', () => {
    expect(beats({ cron: '30 2,14 * * *' }, '2026-03-28T14:00:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-29T12:30Z',
      '2026-03-30T00:30Z',
    ])
    expect(beats({ cron: '30 2,14 * * *' }, '2026-10-24T14:00:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-25T13:30Z',
      '2026-10-26T01:30Z',
    ])
    expect(beats({ cron: '0-30/15 2 * * *' }, '2026-10-24T22:00:00Z', 4, 'Europe/Berlin')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T00:15Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:00Z',
    ])
  })

  it('of "every half hour" follows real time through both changes', () => {
    const half = { cron: '*/30 * * * *' }
    expect(beats(half, '2026-03-29T00:15:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-03-29T00:30Z',
      '2026-03-29T01:00Z',
      '2026-03-29T01:30Z',
    ])
    expect(beats(half, '2026-11-01T05:15:00Z', 4, 'America/New_York')).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-01T06:00Z',
      '2026-11-01T06:30Z',
      '2026-11-01T07:00Z',
    ])
  })

  it('of "every full hour from 0 to 23" follows real time like "every hour"', () => {
    expect(beats({ cron: '0 0-23 * * *' }, '2026-10-24T23:30:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
    ])
  })

  it('finds midnight where the change of the clock leaves midnight out', () => {
    expect(beats({ cron: '0 0 * * *' }, '2018-11-03T12:00:00Z', 2, 'America/Sao_Paulo')).toEqual([
      '2018-11-04T03:00Z',
      '2018-11-05T02:00Z',
    ])
  })

  it('finds leap days, across a century without one', () => {
    expect(beats({ cron: '0 0 29 2 *' }, '2026-01-01T00:00:00Z', 2)).toEqual(['2028-02-29T00:00Z', '2032-02-29T00:00Z'])
    expect(beats({ cron: '0 0 29 2 *' }, '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-29T00:00Z'])
  })

  it('finds the last day of each month', () => {
    expect(beats({ cron: '0 0 L * *' }, '2028-01-31T12:00:00Z', 2)).toEqual(['2028-02-29T00:00Z', '2028-03-31T00:00Z'])
  })

  it('throws for a schedule that nobody has checked, which can only be our own mistake', () => {
    expect(() => nextBeat({ interval: 'soon' }, 0, 0, 'UTC')).toThrow('never checked')
    expect(() => nextBeat({ cron: '0 0 31 2 *' }, 0, 0, 'UTC')).toThrow('has no beat')
  })
})
