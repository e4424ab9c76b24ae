import { parseTestInput } from '#engine/model/test-input.ts'
import { expect, test } from 'vitest'

const event = { topic: 'mail', messageId: 'm1' }

test('an input may leave out what it does not need', () => {
  expect(parseTestInput({})).toEqual({ ok: true, value: { state: null, events: [] } })
  expect(parseTestInput({ state: { n: 1 }, events: [event] })).toEqual({
    ok: true,
    value: { state: { n: 1 }, events: [event] },
  })
})

test.each([
  [[], 'must be an object'],
  [null, 'must be an object'],
  [{ event }, 'has "event", which means nothing'],
  [{ events: event }, '"events" must be a list'],
  [{ events: [event, 'mail'] }, 'Event 2 must be an object'],
  [{ events: [{ messageId: 'm1' }] }, 'Event 1 needs a "topic"'],
  [{ events: [{ topic: 'mail', messageId: '' }] }, 'Event 1 needs a "messageId"'],
  [{ events: [{ ...event, title: 7 }] }, 'The "title" of event 1 must be a text'],
])('the input %j is refused with a sentence that says where', (input, sentence) => {
  const parsed = parseTestInput(input)
  expect(parsed.ok ? '' : parsed.error.message).toContain(sentence)
})
