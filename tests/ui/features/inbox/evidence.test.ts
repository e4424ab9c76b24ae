import { readEvidence } from '#ui/features/inbox/evidence.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('the evidence of a question', () => {
  it('is read from the details that the engine wrote', () => {
    const evidence = readEvidence({
      tool: 'demo.sheet.append',
      whereToCheck: 'Look there.',
      params: { a: 1 },
      line: 7,
      events: [{ topic: 'mail', ids: ['m1', 2, 'm3'] }, 'nonsense'],
      neededPermissions: ['demo'],
    })
    expect(evidence).toMatchObject({
      tool: 'demo.sheet.append',
      whereToCheck: 'Look there.',
      params: { a: 1 },
      line: 7,
      column: null,
      events: [{ topic: 'mail', ids: ['m1', 'm3'] }],
      neededPermissions: ['demo'],
    })
  })

  it('never fails, whatever stands in the details', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (details) => {
        expect(() => readEvidence(JSON.parse(JSON.stringify(details)) as Record<string, never>)).not.toThrow()
      }),
    )
  })
})
