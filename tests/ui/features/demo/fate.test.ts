import type { Mutation } from '#engine/model/mutation.ts'
import { fateOf } from '#ui/features/demo/fate.ts'
import { expect, test } from 'vitest'

const KILLED_AT = 1_000
const crashed = { status: 'crashed', mutation: null, retriedBy: null, endTimestamp: 1_500 } as const
const settledBy = (status: Mutation['status']) => ({ status, resolvedBy: 'reconciled' }) as Mutation

test('an attempt that waits to be taken up again is not settled, and one that was is', () => {
  expect(fateOf(crashed, KILLED_AT).isSettled).toBe(false)
  expect(fateOf({ ...crashed, retriedBy: 'hr_2' }, KILLED_AT)).toMatchObject({ isSettled: true })
})

test('a change that had gone out is told from one that had not arrived', () => {
  const applied = fateOf({ ...crashed, status: 'committed', mutation: settledBy('applied') }, KILLED_AT)
  const missing = fateOf({ ...crashed, mutation: settledBy('failed') }, KILLED_AT)
  expect(applied.words).toContain('was not made again')
  expect(missing.words).toContain('made anew')
})

test('an attempt that was over before the kill was not cut off', () => {
  expect(fateOf({ ...crashed, status: 'committed', endTimestamp: 999 }, KILLED_AT).words).toContain('just finished')
})
