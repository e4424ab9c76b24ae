import { auditBooks } from '#ui/features/demo/books.ts'
import type { DemoSnapshot } from '#worker/api.ts'
import { expect, test } from 'vitest'

const world = (subjects: string[], archived: boolean[]): DemoSnapshot =>
  ({
    mails: archived.map((isArchived, n) => ({ id: `mail-${n}`, archived: isArchived })),
    sheets: { Triage: subjects.map((subject, n) => ({ id: `row-${n}`, values: { subject } })) },
  }) as unknown as DemoSnapshot

test('the books are clean when every mail that is done has exactly one row', () => {
  const books = auditBooks(world(['Order 1', 'Order 2'], [true, false, false]), [
    { title: 'Order 1' },
    { title: 'Order 2' },
  ])
  expect(books).toEqual({ waiting: 2, rows: 2, twice: 0, lost: 0 })
})

test('a mail that is called done without a row is lost, and one with two rows was written twice', () => {
  const books = auditBooks(world(['Order 1', 'Order 1'], [true]), [{ title: 'Order 1' }, { title: 'Order 2' }])
  expect(books).toMatchObject({ rows: 2, twice: 1, lost: 1 })
})
