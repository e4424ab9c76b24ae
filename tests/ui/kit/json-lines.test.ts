import { jsonTokens, prettyJson } from '#ui/kit/json-lines.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('JSON on the screen', () => {
  it('is indented, and what is no JSON is shown as it is', () => {
    expect(prettyJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}')
    expect(prettyJson('not json')).toBe('not json')
  })

  it('that is too long is cut and says so', () => {
    expect(prettyJson(JSON.stringify('x'.repeat(300_000)))).toMatch(/cut here: 300002 characters in all$/)
  })

  it('tells keys, texts, numbers and words apart', () => {
    expect(jsonTokens('  "a": "b: 1",').filter(({ kind }) => kind !== 'plain')).toEqual([
      { kind: 'key', text: '"a"' },
      { kind: 'text', text: '"b: 1"' },
    ])
    expect(jsonTokens('[-1.5e3, null]').map(({ kind }) => kind)).toEqual(['plain', 'number', 'plain', 'word', 'plain'])
  })

  it('loses nothing by being coloured', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const line of JSON.stringify(value, null, 2).split('\n')) {
          expect(
            jsonTokens(line)
              .map(({ text }) => text)
              .join(''),
          ).toBe(line)
        }
      }),
    )
  })
})
