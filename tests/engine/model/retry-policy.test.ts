import { describe, expect, test } from 'vitest'
import { defaultRetryPolicy, parseRetryPolicy, type RetryPolicyProblem } from '#engine/model/retry-policy.ts'

const problemsOf = (value: unknown): RetryPolicyProblem[] => {
  const parsed = parseRetryPolicy(value)
  return parsed.ok ? [] : parsed.error
}

describe('a retry policy', () => {
  test('is five retries from one second on, doubling up to five minutes, where nothing else was said', () => {
    expect(defaultRetryPolicy).toEqual({ retries: 5, firstDelayMs: 1000, factor: 2, longestDelayMs: 300_000 })
    expect(parseRetryPolicy(defaultRetryPolicy)).toEqual({ ok: true, value: defaultRetryPolicy })
  })

  test.each([
    [{ retries: -1 }, 'retries', 'from 0 to 100'],
    [{ retries: 101 }, 'retries', 'from 0 to 100'],
    [{ retries: 2.5 }, 'retries', 'whole number'],
    [{ retries: '5' }, 'retries', 'whole number'],
    [{ retries: undefined }, 'retries', 'whole number'],
    [{ firstDelayMs: 99 }, 'firstDelayMs', 'The first wait'],
    [{ firstDelayMs: Number.NaN }, 'firstDelayMs', 'The first wait'],
    [{ factor: 0.5 }, 'factor', 'from 1 to 10'],
    [{ factor: Infinity }, 'factor', 'from 1 to 10'],
    [{ longestDelayMs: 86_400_001 }, 'longestDelayMs', 'to a day'],
    [{ firstDelayMs: 2000, longestDelayMs: 1999 }, 'longestDelayMs', 'not be shorter than the first'],
  ] as const)('with %j is refused with one sentence, at the field that is wrong', (change, field, sentence) => {
    const problems = problemsOf({ ...defaultRetryPolicy, ...change })
    expect(problems).toEqual([{ field, message: expect.stringContaining(sentence) as unknown }])
  })

  test('tells of every field that is wrong', () => {
    const problems = problemsOf({ retries: 1.5, firstDelayMs: 0, factor: 0, longestDelayMs: 0 })
    expect(problems.map(({ field }) => field)).toEqual(['retries', 'firstDelayMs', 'factor', 'longestDelayMs'])
  })

  test.each([
    [null],
    ['often'],
    [{ ...defaultRetryPolicy, jitter: 1 }],
    [{ retries: 5, firstDelayMs: 1000, factor: 2 }],
  ])('that is %j is refused with what it has to look like', (value) => {
    expect(problemsOf(value)).toMatchObject([
      { message: expect.stringContaining('{ retries, firstDelayMs, factor, longestDelayMs }') as unknown },
    ])
  })
})
