import { describe, expect, it } from 'vitest'
import { parsePrepareResult } from '#engine/script/prepare-result.ts'
import { parseWakeAt } from '#engine/script/wake-at.ts'

const NOW = Date.parse('2026-05-01T10:00:00Z')
const SECOND = 1000
const HOUR = 3600 * SECOND
const context = { now: NOW, subscribe: ['mail', 'row'] }

const parse = (value: unknown) => parsePrepareResult(JSON.stringify(value), context)
const problem = (value: unknown): string => {
  const parsed = parse(value)
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.type).toBe('logic')
  return parsed.error.message
}
const reserving = (reservation: unknown): string => problem({ reservations: [reservation], data: {} })

describe('what prepare returns', () => {
  it('is kept whole, word for word, for mutate and next', () => {
    const text = '{ "reservations": [{"topic":"mail","ids":["m1","m2"]}], "data": {"n": 1.0}, "extra": true }'
    expect(parsePrepareResult(text, context)).toEqual({
      ok: true,
      value: { reservations: [{ topic: 'mail', ids: ['m1', 'm2'] }], wakeAt: null, ui: null, text },
    })
  })

  it('may reserve from several topics, the same id in two of them included', () => {
    const reservations = [
      { topic: 'mail', ids: ['1'] },
      { topic: 'row', ids: ['1'] },
    ]
    expect(parse({ reservations })).toMatchObject({ ok: true, value: { reservations } })
  })

  it('may reserve nothing and carry no data', () => {
    expect(parse({ reservations: [] })).toMatchObject({ ok: true, value: { reservations: [] } })
  })

  it('reserves nothing when it names a topic and no ids, so that mutate is not run for no event', () => {
    expect(parse({ reservations: [{ topic: 'mail', ids: [] }] })).toMatchObject({
      ok: true,
      value: { reservations: [] },
    })
  })

  it('carries what the user is shown', () => {
    expect(parse({ reservations: [], ui: { title: 'Add row', lines: [1] } })).toMatchObject({
      ok: true,
      value: { ui: { title: 'Add row', lines: [1] } },
    })
  })

  it.each([
    [null, 'null'],
    [[], 'an array'],
    ['done', 'a string'],
    ['', 'an empty string'],
    [1, 'a number'],
    [false, 'a boolean'],
  ])('is refused when it is %j', (value, kind) => {
    expect(problem(value)).toBe(
      `prepare returned ${kind}. It must return { reservations: [{ topic, ids: [messageId] }], data }; with nothing to do, reservations: [].`,
    )
  })

  it('is refused when it is nothing at all', () => {
    expect(parsePrepareResult(undefined, context)).toMatchObject({
      ok: false,
      error: { type: 'logic', message: expect.stringContaining('prepare returned nothing.') as string },
    })
  })

  it('is refused without reservations, also when only the prototype has them', () => {
    expect(problem({ data: {} })).toContain('prepare returned no reservations.')
    expect(parsePrepareResult('{"__proto__": {"reservations": []}}', context).ok).toBe(false)
  })

  it.each([
    [null, 'null'],
    [{}, 'an object'],
    ['m1', 'a string'],
    [3, 'a number'],
  ])('is refused when the reservations are %j', (reservations, kind) => {
    expect(problem({ reservations })).toContain(`prepare returned reservations that are ${kind}.`)
  })

  it.each([
    ['m1', 'prepare returned reservations[0] as a string. Each reservation is { topic, ids: [messageId] }.'],
    [null, 'prepare returned reservations[0] as null. Each reservation is { topic, ids: [messageId] }.'],
    [{ ids: ['m1'] }, 'prepare returned reservations[0] without topic. It must be the name of a subscribed topic.'],
    [
      { topic: 5, ids: ['m1'] },
      'prepare returned reservations[0] whose topic is a number. It must be the name of a subscribed topic.',
    ],
    [
      { topic: '', ids: ['m1'] },
      'prepare returned reservations[0] whose topic is an empty string. It must be the name of a subscribed topic.',
    ],
    [{ topic: 'mail' }, 'prepare returned reservations[0] without ids. It must be an array of message ids.'],
    [
      { topic: 'mail', ids: 'm1' },
      'prepare returned reservations[0] whose ids are a string. It must be an array of message ids.',
    ],
    [
      { topic: 'mail', ids: ['m1', 2] },
      'prepare returned reservations[0].ids[1] as a number. Each id is the messageId of an event, a string that is not empty.',
    ],
    [
      { topic: 'mail', ids: [''] },
      'prepare returned reservations[0].ids[0] as an empty string. Each id is the messageId of an event, a string that is not empty.',
    ],
    [
      { topic: 'mail', ids: [{ messageId: 'm1' }] },
      'prepare returned reservations[0].ids[0] as an object. Each id is the messageId of an event, a string that is not empty.',
    ],
  ])('is refused with a reservation such as %j', (reservation, sentence) => {
    expect(reserving(reservation)).toBe(sentence)
  })

  it('names which of several reservations is wrong', () => {
    expect(problem({ reservations: [{ topic: 'mail', ids: ['m1'] }, {}] })).toContain('reservations[1] without topic')
  })

  it('is refused when it reserves from a topic that is not subscribed, even with no ids', () => {
    const sentence =
      'prepare reserved events of the topic "bill", which this consumer does not subscribe to (it subscribes to "mail", "row"). ' +
      'Add the topic to subscribe, or reserve from one that is there.'
    expect(reserving({ topic: 'bill', ids: ['m1'] })).toBe(sentence)
    expect(reserving({ topic: 'bill', ids: [] })).toBe(sentence)
    expect(reserving({ topic: 'constructor', ids: ['m1'] })).toContain('does not subscribe')
  })

  it('is refused when it reserves one event twice, in one entry or in two', () => {
    const sentence = 'prepare reserved the event "m1" of the topic "mail" twice. Name each id once.'
    expect(reserving({ topic: 'mail', ids: ['m1', 'm2', 'm1'] })).toBe(sentence)
    expect(
      problem({
        reservations: [
          { topic: 'mail', ids: ['m1'] },
          { topic: 'mail', ids: ['m1'] },
        ],
      }),
    ).toBe(sentence)
  })

  it('is refused with a ui that cannot be shown', () => {
    expect(problem({ reservations: [], ui: 'Add row' })).toBe(
      'prepare returned a ui that is a string. It must be an object such as { title: "Add row" }.',
    )
    expect(problem({ reservations: [], ui: { title: 5 } })).toBe(
      'prepare returned a ui.title that is a number. It must be a string.',
    )
  })

  it('asks to be woken', () => {
    expect(parse({ reservations: [], wakeAt: '2026-05-01T12:00:00.000Z' })).toMatchObject({
      ok: true,
      value: { wakeAt: NOW + 2 * HOUR },
    })
    expect(problem({ reservations: [], wakeAt: 'tomorrow' })).toBe(
      'In what prepare returned, wakeAt "tomorrow" is not an ISO 8601 time such as "2026-01-31T09:00:00Z".',
    )
  })
})

describe('wakeAt', () => {
  const wake = (wakeAt: string) => parseWakeAt(wakeAt, NOW)

  it('is nothing when it is not given', () => {
    expect(parseWakeAt(undefined, NOW)).toEqual({ ok: true, value: null })
    expect(parseWakeAt(null, NOW)).toEqual({ ok: true, value: null })
  })

  it.each([
    ['2026-05-01T12:30Z', 2.5 * HOUR],
    ['2026-05-01T12:30:15Z', 2.5 * HOUR + 15 * SECOND],
    ['2026-05-01T12:30:15.250Z', 2.5 * HOUR + 15.25 * SECOND],
    ['2026-05-01T12:00:00+02:00', 30 * SECOND],
    ['2026-05-01T07:00:00-04:00', 1 * HOUR],
    ['2026-05-02', 14 * HOUR],
  ])('takes %s', (wakeAt, inMs) => {
    expect(wake(wakeAt)).toEqual({ ok: true, value: NOW + inMs })
  })

  it('is never sooner than in 30 seconds and never later than in 24 hours', () => {
    expect(wake('2026-05-01T10:00:29.999Z')).toEqual({ ok: true, value: NOW + 30 * SECOND })
    expect(wake('2026-05-01T10:00:30.001Z')).toEqual({ ok: true, value: NOW + 30.001 * SECOND })
    expect(wake('0001-01-01T00:00:00Z')).toEqual({ ok: true, value: NOW + 30 * SECOND })
    expect(wake('2026-05-02T09:59:59.999Z')).toEqual({ ok: true, value: NOW + 24 * HOUR - 1 })
    expect(wake('9999-12-31T23:59:59Z')).toEqual({ ok: true, value: NOW + 24 * HOUR })
  })

  it.each([
    '',
    'tomorrow',
    '9:00',
    'May 1, 2026',
    '2026-5-1T9:00:00Z',
    '2026-02-30T09:00:00Z',
    '2027-02-29',
    '2026-13-01T00:00:00Z',
    '2026-05-01T25:00:00Z',
    '2026-05-01T12:61:00Z',
    '2026-05-01 12:00:00Z',
    '2026-05-01T12:00:00Z ',
    '2026-05-01T12:00:00+2',
    '20260501T120000Z',
    '1777629600000',
    '+002026-05-01T12:00:00Z',
  ])('refuses "%s"', (wakeAt) => {
    expect(wake(wakeAt)).toEqual({
      ok: false,
      error: `wakeAt "${wakeAt}" is not an ISO 8601 time such as "2026-01-31T09:00:00Z".`,
    })
  })

  it('refuses a time of the day whose time zone nobody knows', () => {
    expect(wake('2026-05-01T12:00:00')).toEqual({
      ok: false,
      error:
        'wakeAt "2026-05-01T12:00:00" does not say which time zone it means. End it with "Z" for UTC or an offset such as "+02:00".',
    })
  })

  it.each([
    [1777629600000, 'a number'],
    [{}, 'an object'],
    [true, 'a boolean'],
  ])('refuses %j, which is no string', (wakeAt, kind) => {
    expect(parseWakeAt(wakeAt, NOW)).toEqual({
      ok: false,
      error: `wakeAt is ${kind}. It must be an ISO 8601 string: new Date(…).toISOString() makes one.`,
    })
  })
})
