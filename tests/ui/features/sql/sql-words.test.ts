import { tableToCsv } from '#ui/features/sql/csv.ts'
import { sqlWords } from '#ui/features/sql/sql-words.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

describe('a coloured query', () => {
  test('is the same text in pieces', () => {
    fc.assert(
      fc.property(
        fc.string(),
        (sql) =>
          sqlWords(sql)
            .map(({ text }) => text)
            .join('') === sql,
      ),
    )
  })

  test('tells keywords, text, numbers and comments apart', () => {
    const kinds = sqlWords(`select a1 from t where b = 'it''s' and c > 12 -- from`).filter(
      ({ kind }) => kind !== 'plain',
    )
    expect(kinds.map(({ text, kind }) => `${kind} ${text}`)).toEqual([
      'keyword select',
      'keyword from',
      'keyword where',
      `text 'it''s'`,
      'keyword and',
      'number 12',
      'comment -- from',
    ])
  })
})

test('a table becomes CSV that other programs read', () => {
  const rows = [
    ['a,b', 1, null],
    ['say "hi"', 'two\nlines', new Uint8Array([10, 255])],
  ]
  expect(tableToCsv({ columns: ['x', 'y', 'x'], rows })).toBe('x,y,x\r\n"a,b",1,\r\n"say ""hi""","two\nlines",0aff\r\n')
})
