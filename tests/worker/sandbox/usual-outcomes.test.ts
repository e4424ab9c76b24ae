import { createUsualOutcomes } from '#worker/sandbox/usual-outcomes.ts'
import { expect, test } from 'vitest'
import { phaseRequest } from '../../support/phase.ts'

const HANDLER = { scriptId: 'scr', handler: 'c' }
const told = (outcome: string, phase: 'next' | 'mutate' = 'next') =>
  phaseRequest('', { ...HANDLER, phase, args: ['{}', outcome] })

test('an outcome is usual once it was the same twice in a row, and no more when another came', () => {
  const outcomes = createUsualOutcomes()
  const usual = ['"a"', '"a"', '"a"', '"b"', '"a"', '"b"', '"b"'].map((outcome) => {
    outcomes.learn(told(outcome))
    return outcomes.of(HANDLER)
  })
  expect(usual).toEqual([undefined, '"a"', '"a"', undefined, undefined, undefined, '"b"'])
})

test('what other phases are given, other handlers are told, or is long, is not learned', () => {
  const outcomes = createUsualOutcomes()
  for (let n = 0; n < 3; n += 1) {
    outcomes.learn(told('"a"', 'mutate'))
    outcomes.learn({ ...told('"a"'), handler: 'other' })
    outcomes.learn(told(`"${'a'.repeat(5000)}"`))
  }
  expect(outcomes.of(HANDLER)).toBeUndefined()
})
