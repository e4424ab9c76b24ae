import { expect, test } from 'vitest'
import { defaultRetryPolicy } from '#engine/model/retry-policy.ts'
import { retryWords } from '#ui/features/workflows/retry-words.ts'

test.each([
  [{}, '5 retries, after 1 s, 2 s, 4 s, 8 s, and 16 s.'],
  [{ retries: 0 }, 'No retries: the inbox asks you at the first failure.'],
  [{ retries: 1 }, '1 retry, after 1 s.'],
  [{ retries: 2, firstDelayMs: 10_000 }, '2 retries, after 10 s and 20 s.'],
  [{ retries: 3, factor: 1, firstDelayMs: 500 }, '3 retries, each after 500 ms.'],
  [{ retries: 20 }, '20 retries, after 1 s, 2 s, 4 s, 8 s, 16 s and so on, the last after 5 min.'],
])('the policy with %j is told in words', (change, words) => {
  expect(retryWords({ ...defaultRetryPolicy, ...change })).toBe(words)
})
