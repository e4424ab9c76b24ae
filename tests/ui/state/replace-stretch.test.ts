import { replaceStretch } from '#ui/state/replace-stretch.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const rows = (...ids: number[]) => ids.map((n) => ({ id: String(n).padStart(4, '0') }))
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => Number(id))

describe('a stretch that was read again', () => {
  it('takes the place of what was known of it, with new rows in and removed rows out', () => {
    const known = rows(9, 8, 7, 6, 5, 4, 3)
    const read = { before: '0008', rows: rows(7, 5), hasMore: true }
    expect(ids(replaceStretch(known, read))).toEqual([9, 8, 7, 5, 4, 3])
  })

  it('that reaches the end ends the list', () => {
    expect(ids(replaceStretch(rows(9, 8, 7), { before: '0009', rows: rows(8), hasMore: false }))).toEqual([9, 8])
  })

  it('at the top brings what is new', () => {
    expect(ids(replaceStretch(rows(3, 2, 1), { before: undefined, rows: rows(5, 4, 3), hasMore: true }))).toEqual([
      5, 4, 3, 2, 1,
    ])
  })

  it('that does not reach what is known leaves no hole', () => {
    expect(ids(replaceStretch(rows(3, 2), { before: undefined, rows: rows(9, 8), hasMore: true }))).toEqual([9, 8])
  })

  it('after the last row makes the list longer', () => {
    expect(ids(replaceStretch(rows(9, 8), { before: '0008', rows: rows(7, 6), hasMore: true }))).toEqual([9, 8, 7, 6])
  })

  it('keeps the list ordered and without doubles, whatever happened meanwhile', () => {
    const some = fc.uniqueArray(fc.nat(60), { maxLength: 40 }).map((list) => list.sort((a, b) => b - a))
    fc.assert(
      fc.property(some, some, fc.nat(10), fc.integer({ min: 1, max: 10 }), (before, after, at, limit) => {
        const known = rows(...before)
        const bound = known[at]?.id
        const matching = rows(...after).filter(({ id }) => bound === undefined || id < bound)
        const read = { before: bound, rows: matching.slice(0, limit), hasMore: matching.length > limit }
        const list = ids(replaceStretch(known, read))
        expect(list).toEqual([...new Set(list)].sort((a, b) => b - a))
      }),
    )
  })
})
