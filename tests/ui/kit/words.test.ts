import { byteSize, count, money, plural, roughCount } from '#ui/kit/number-words.ts'
import { clockTime, duration, exactTime, relativeTime } from '#ui/kit/time-words.ts'
import { describe, expect, it } from 'vitest'

describe('times in words', () => {
  it.each([
    [0, 'now'],
    [-900, 'now'],
    [-8_000, '8 sec. ago'],
    [8_000, 'in 8 sec.'],
    [-3 * 60_000, '3 min. ago'],
    [26 * 3_600_000, 'tomorrow'],
    [-400 * 86_400_000, 'last yr.'],
  ])('%d ms away is %s', (distance, words) => {
    expect(relativeTime(1_700_000_000_000 + distance, 1_700_000_000_000)).toBe(words)
  })

  it.each([
    [0, '0 ms'],
    [820, '820 ms'],
    [4_230, '4.2 s'],
    [59_400, '59 s'],
    [60_000, '1 min'],
    [185_000, '3 min 5 s'],
    [7_800_000, '2 h 10 min'],
    [273_600_000, '3 d 4 h'],
  ])('%d ms take %s', (ms, words) => {
    expect(duration(ms)).toBe(words)
  })

  it('tell moments within a second apart where order matters', () => {
    expect(clockTime(1_700_000_000_007)).toMatch(/\.007$/)
    expect(exactTime(1_700_000_000_000)).toContain('2023')
  })
})

describe('numbers in words', () => {
  it('are grouped, and rough only when large', () => {
    expect(count(1_234_567)).toBe('1,234,567')
    expect(roughCount(9_999)).toBe('9,999')
    expect(roughCount(12_345)).toBe('12.3K')
    expect(plural(1, 'event')).toBe('1 event')
    expect(plural(1_000, 'event')).toBe('1,000 events')
  })

  it.each([
    [512, '512 bytes'],
    [1_500, '1.5 kB'],
    [250_000_000, '250 MB'],
  ])('%d bytes are %s', (bytes, words) => {
    expect(byteSize(bytes)).toBe(words)
  })

  it('show small costs to the fraction that matters', () => {
    expect(money(0)).toBe('–')
    expect(money(1_200)).toBe('$0.0012')
    expect(money(2_500_000)).toBe('$2.50')
  })
})
