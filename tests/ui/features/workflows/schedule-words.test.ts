import { cronWords, intervalWords } from '#ui/features/workflows/schedule-words.ts'
import { describe, expect, it } from 'vitest'

describe('a schedule in words', () => {
  it.each([
    ['5m', 'every 5 minutes'],
    ['1h', 'every hour'],
    ['30s', 'every 30 seconds'],
    ['1d', 'every day'],
    ['soon', null],
  ])('%s is %s', (value, words) => {
    expect(intervalWords(value)).toBe(words)
  })

  it('names the time zone where there is one, and reads what is no cron expression as it is', async () => {
    expect(await cronWords({ value: '0 9 * * 1', timezone: 'Europe/Berlin' })).toBe(
      'at 09:00, only on Monday, Europe/Berlin',
    )
    expect(await cronWords({ value: '*/15 * * * *', timezone: null })).toBe('every 15 minutes')
  })
})
