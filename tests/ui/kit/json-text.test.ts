import { readJson } from '#ui/kit/json-text.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const problem = (text: string): string => {
  const read = readJson(text)
  return 'problem' in read ? read.problem : 'none'
}

test.each([
  ['', 'line 1, column 1 should be a value, but the text ends there'],
  ['row-7', 'line 1, column 1 should be a value, not r'],
  ['{\n  "events": [}', 'line 2, column 14 should be a value, not }'],
  ['{ "a": 1\n  "b": 2 }', 'line 2, column 3 should be a comma or }, not "'],
  ['{ a: 1 }', 'line 1, column 3 should be a name in double quotes, not a'],
  ['{ "a" 1 }', 'line 1, column 7 should be a colon, not 1'],
  ['[1, 2', 'line 1, column 6 should be a comma or ], but the text ends there'],
  ['[1,]', 'line 1, column 4 should be a value, not ]'],
  ['[01]', 'line 1, column 2 should be a value, not 0'],
  ['{} {}', 'line 1, column 4 should be the end, not {'],
  ["'text'", "line 1, column 1 should be a value, not '"],
])('of %j the place and what is wanted there are told', (text, sentence) => {
  expect(problem(text)).toBe(`This is not JSON: ${sentence}.`)
})

test('a text that was cut short or changed anywhere gets a place inside of it, or is JSON', () => {
  const anywhere = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', ':', 'x', '[', '\n'))
  fc.assert(
    fc.property(anywhere, ([json, position, character]) => {
      const at = position % (json.length + 1)
      const text = json.slice(0, at) + character + json.slice(at + 1)
      const read = readJson(text)
      if ('value' in read) return
      const [, line = '', column = ''] = /line (\d+), column (\d+) should be/.exec(read.problem) ?? []
      const told = text.split('\n')[Number(line) - 1] ?? ''
      expect(Number(column)).toBeGreaterThan(0)
      expect(Number(column)).toBeLessThanOrEqual(told.length + 1)
      // That would be a mistake which only the browser has found.
      expect(read.problem).not.toContain('should be the end, but the text ends there')
    }),
  )
})

test('a hundred thousand open brackets are told of like any other mistake', () => {
  expect(problem('['.repeat(100_000))).toContain('column 100001 should be a value')
})
