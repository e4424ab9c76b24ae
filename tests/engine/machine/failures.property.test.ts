import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actionTable, backoffMs, failureTable } from '#engine/machine/failures.ts'
import { failureTypes } from '#engine/model/errors.ts'
import { escalationKinds } from '#engine/model/escalation.ts'

const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('back-off doubles from one second up to five minutes, with at most 30 % on top', () => {
  fc.assert(
    fc.property(fc.nat(40), jitter, (retriesUsed, random) => {
      const base = Math.min(1000 * 2 ** retriesUsed, 300_000)
      const wait = backoffMs(retriesUsed, random)
      expect(wait).toBeGreaterThanOrEqual(base)
      expect(wait).toBeLessThanOrEqual(Math.round(base * 1.3))
    }),
  )
})

test('a retry never comes earlier than the other side asked for, up to a day', () => {
  fc.assert(
    fc.property(fc.nat(10), jitter, fc.nat(10 * 86_400_000), (retriesUsed, random, retryAfterMs) => {
      expect(backoffMs(retriesUsed, random, retryAfterMs)).toBeGreaterThanOrEqual(Math.min(retryAfterMs, 86_400_000))
    }),
  )
})

test('every class of failure has a way to stop, and every kind of question an action', () => {
  expect(Object.keys(failureTable).sort()).toEqual([...failureTypes].sort())
  expect(Object.keys(actionTable).sort()).toEqual([...escalationKinds].sort())
  for (const kind of escalationKinds) expect(actionTable[kind].length).toBeGreaterThan(0)
})
