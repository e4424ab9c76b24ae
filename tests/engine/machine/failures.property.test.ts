import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actionTable, backoffMs, failureTable } from '#engine/machine/failures.ts'
import { failureTypes } from '#engine/model/errors.ts'
import { escalationKinds } from '#engine/model/escalation.ts'
import { defaultRetryPolicy, parseRetryPolicy } from '#engine/model/retry-policy.ts'

const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const dayMs = 86_400_000
const policies = fc
  .record({
    retries: fc.nat(100),
    firstDelayMs: fc.integer({ min: 100, max: dayMs }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    longestDelayMs: fc.integer({ min: 100, max: dayMs }),
  })
  .filter(({ firstDelayMs, longestDelayMs }) => firstDelayMs <= longestDelayMs)

test('without a policy of its own, back-off doubles from one second up to five minutes, with at most 30 % on top', () => {
  fc.assert(
    fc.property(fc.nat(40), jitter, (retriesUsed, random) => {
      const base = Math.min(1000 * 2 ** retriesUsed, 300_000)
      const wait = backoffMs(defaultRetryPolicy, retriesUsed, random)
      expect(wait).toBeGreaterThanOrEqual(base)
      expect(wait).toBeLessThanOrEqual(Math.round(base * 1.3))
    }),
  )
})

test('with any policy, each wait is at least the one before, and between the first and the longest, with at most 30 % on top', () => {
  fc.assert(
    fc.property(policies, fc.nat(200), jitter, (policy, retriesUsed, random) => {
      expect(parseRetryPolicy(policy)).toEqual({ ok: true, value: policy })
      const wait = backoffMs(policy, retriesUsed, random)
      expect(Number.isSafeInteger(wait)).toBe(true)
      expect(backoffMs(policy, retriesUsed + 1, random)).toBeGreaterThanOrEqual(wait)
      expect(wait).toBeGreaterThanOrEqual(policy.firstDelayMs)
      expect(wait).toBeLessThanOrEqual(Math.round(policy.longestDelayMs * 1.3))
      expect(backoffMs(policy, 0, 0)).toBe(policy.firstDelayMs)
    }),
  )
})

test('a retry never comes earlier than the other side asked for, up to a day', () => {
  fc.assert(
    fc.property(policies, fc.nat(10), jitter, fc.nat(10 * dayMs), (policy, retriesUsed, random, retryAfterMs) => {
      const wait = backoffMs(policy, retriesUsed, random, retryAfterMs)
      expect(wait).toBeGreaterThanOrEqual(Math.min(retryAfterMs, dayMs))
    }),
  )
})

test('every class of failure has a way to stop, and every kind of question an action', () => {
  expect(Object.keys(failureTable).sort()).toEqual([...failureTypes].sort())
  expect(Object.keys(actionTable).sort()).toEqual([...escalationKinds].sort())
  for (const kind of escalationKinds) expect(actionTable[kind].length).toBeGreaterThan(0)
})
