import { describe, expect, it } from 'vitest'
import type { Failure } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import type { Result } from '#engine/model/result.ts'
import { parseGetByIds, parsePeek, parsePublish } from '#engine/script/topic-calls.ts'

const problem = (parsed: Result<unknown, Failure>): string => {
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.type).toBe('logic')
  return parsed.error.message
}
const publish = (...args: Json[]) => parsePublish(args, ['mail', 'row'])
const peek = (...args: Json[]) => parsePeek(args, ['mail'])
const getByIds = (...args: Json[]) => parseGetByIds(args, ['mail'])

describe('topics.publish', () => {
  it('takes a topic and an event', () => {
    expect(publish('mail', { messageId: 'm1', title: 'Hello', payload: { from: 'ada' } })).toEqual({
      ok: true,
      value: { topic: 'mail', messageId: 'm1', title: 'Hello', payload: '{"from":"ada"}' },
    })
  })

  it('takes an event without title and payload', () => {
    const value = { topic: 'row', messageId: 'm1', title: null, payload: 'null' }
    expect(publish('row', { messageId: 'm1' })).toEqual({ ok: true, value })
    expect(publish('row', { messageId: 'm1', title: null, payload: null })).toEqual({ ok: true, value })
  })

  it('keeps a payload that is false, zero or empty', () => {
    expect([false, 0, '', []].map((payload) => publish('row', { messageId: 'm', payload }))).toMatchObject(
      ['false', '0', '""', '[]'].map((payload) => ({ ok: true, value: { payload } })),
    )
  })

  it.each<[Json[], string]>([
    [[], 'the first argument is nothing. It must be the name of a topic.'],
    [[{ messageId: 'm1' }], 'the first argument is an object. It must be the name of a topic.'],
    [['', {}], 'the first argument is an empty string. It must be the name of a topic.'],
    [
      ['bill', {}],
      'the topic "bill" is not among the topics that this handler declares in publishes ("mail", "row"). Add it there.',
    ],
    [['mail'], 'the event is nothing, not an object { messageId, title, payload }.'],
    [['mail', 'm1'], 'the event is a string, not an object { messageId, title, payload }.'],
    [['mail', [{ messageId: 'm1' }]], 'the event is an array, not an object { messageId, title, payload }.'],
    [
      ['mail', { payload: 1 }],
      'the event has no messageId. It must be a string that is the same whenever the same thing is published again.',
    ],
    [['mail', { messageId: 7 }], 'the messageId is a number, not a string. Use String(…) to make it one.'],
    [['mail', { messageId: '' }], 'the messageId is an empty string.'],
    [['mail', { messageId: 'x'.repeat(513) }], 'the messageId is 513 characters long; at most 512 are allowed.'],
    [['mail', { messageId: 'm1', title: 7 }], 'the title is a number, not a string.'],
    [
      ['mail', { messageId: 'a\0b' }],
      'the messageId contains a character that cannot be stored: U+0000, or half of a surrogate pair (an emoji cut in two).',
    ],
    [
      ['mail', { messageId: 'm1', title: '🎈'.slice(0, 1) }],
      'the title contains a character that cannot be stored: U+0000, or half of a surrogate pair (an emoji cut in two).',
    ],
  ])('refuses %j', (args, sentence) => {
    expect(problem(publish(...args))).toBe(`topics.publish: ${sentence}`)
  })

  it('takes a messageId of 512 characters, of any alphabet', () => {
    expect(publish('mail', { messageId: 'x'.repeat(512) }).ok).toBe(true)
    expect(publish('mail', { messageId: 'ключ 🎈/__proto__' }).ok).toBe(true)
  })

  it('says "none" when the handler declares no topics', () => {
    expect(problem(parsePublish(['mail', {}], []))).toContain('declares in publishes (none). Add it there.')
  })

  it('finds no topic and no messageId on the prototype of every object', () => {
    expect(problem(publish('toString', { messageId: 'm1' }))).toContain('is not among the topics')
    expect(problem(parsePublish(['mail', JSON.parse('{"__proto__":{"messageId":"m1"}}') as Json], ['mail']))).toContain(
      'has no messageId',
    )
  })
})

describe('topics.peek', () => {
  it('takes a topic, and a limit that is 100 unless told', () => {
    expect(peek('mail', { limit: 1 })).toEqual({ ok: true, value: { topic: 'mail', limit: 1 } })
    expect(peek('mail')).toEqual({ ok: true, value: { topic: 'mail', limit: 100 } })
    expect(peek('mail', {})).toEqual({ ok: true, value: { topic: 'mail', limit: 100 } })
    expect(peek('mail', null)).toEqual({ ok: true, value: { topic: 'mail', limit: 100 } })
    expect(peek('mail', { limit: 1000 })).toEqual({ ok: true, value: { topic: 'mail', limit: 1000 } })
  })

  it.each<[Json[], string]>([
    [[], 'the first argument is nothing. It must be the name of a topic.'],
    [
      ['row'],
      'the topic "row" is not among the topics that this handler declares in subscribe ("mail"). Add it there.',
    ],
    [['mail', 5], 'the second argument is a number, not an object { limit }.'],
    [['mail', { limit: 0 }], 'the limit is 0. It must be a whole number from 1 to 1000.'],
    [['mail', { limit: -1 }], 'the limit is -1. It must be a whole number from 1 to 1000.'],
    [['mail', { limit: 1.5 }], 'the limit is 1.5. It must be a whole number from 1 to 1000.'],
    [['mail', { limit: 1001 }], 'the limit is 1001. It must be a whole number from 1 to 1000.'],
    [['mail', { limit: '5' }], 'the limit is a string. It must be a whole number from 1 to 1000.'],
  ])('refuses %j', (args, sentence) => {
    expect(problem(peek(...args))).toBe(`topics.peek: ${sentence}`)
  })
})

describe('topics.getByIds', () => {
  it('takes a topic and message ids', () => {
    expect(getByIds('mail', ['m1', 'm2'])).toEqual({ ok: true, value: { topic: 'mail', ids: ['m1', 'm2'] } })
    expect(getByIds('mail', [])).toEqual({ ok: true, value: { topic: 'mail', ids: [] } })
  })

  it.each<[Json[], string]>([
    [[null, ['m1']], 'the first argument is null. It must be the name of a topic.'],
    [
      ['row', ['m1']],
      'the topic "row" is not among the topics that this handler declares in subscribe ("mail"). Add it there.',
    ],
    [['mail'], 'the ids are nothing, not an array of message ids.'],
    [['mail', 'm1'], 'the ids are a string, not an array of message ids.'],
    [['mail', ['m1', 2]], 'ids[1] is a number. Each id is a string that is not empty.'],
    [['mail', ['']], 'ids[0] is an empty string. Each id is a string that is not empty.'],
  ])('refuses %j', (args, sentence) => {
    expect(problem(getByIds(...args))).toBe(`topics.getByIds: ${sentence}`)
  })

  it('refuses more than 1000 ids at a time', () => {
    expect(problem(getByIds('mail', Array.from({ length: 1001 }, String)))).toBe(
      'topics.getByIds: 1001 ids are too many: ask for at most 1000 at a time.',
    )
  })
})
