import { createTimeScale } from '#ui/features/runs/time-scale.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('the scale of a timeline', () => {
  it('is in proportion while work follows work', () => {
    const scale = createTimeScale([
      { from: 1_000, to: 1_400 },
      { from: 1_400, to: 2_000 },
    ])
    expect(scale.at(1_000)).toBe(0)
    expect(scale.at(1_400)).toBeCloseTo(0.4)
    expect(scale.at(2_000)).toBeCloseTo(1)
    expect(scale.breaks).toEqual([])
  })

  it('collapses an hour of waiting between two seconds of work into a narrow break', () => {
    const hour = 3_600_000
    const scale = createTimeScale([
      { from: 0, to: 1_000 },
      { from: hour, to: hour + 1_000 },
    ])
    const [gap] = scale.breaks
    expect(gap?.ms).toBe(hour - 1_000)
    expect(gap?.width).toBeLessThan(0.05)
    expect(scale.at(1_000)).toBeCloseTo(0.4875)
    expect(scale.at(hour)).toBeCloseTo(0.5125)
  })

  it('keeps a short pause as it is', () => {
    const scale = createTimeScale([
      { from: 0, to: 1_000 },
      { from: 1_100, to: 2_100 },
    ])
    expect(scale.breaks).toEqual([])
  })

  it('tells its ticks as time since the beginning, from left to right', () => {
    const { ticks } = createTimeScale([{ from: 5_000, to: 8_000 }])
    expect(ticks.map(({ ms }) => ms)).toEqual([0, 500, 1_000, 1_500, 2_000, 2_500])
  })

  it('never leaves its width and never turns time around, whatever the intervals', () => {
    const interval = fc.tuple(fc.nat(10_000_000), fc.nat(60_000)).map(([from, length]) => ({ from, to: from + length }))
    fc.assert(
      fc.property(fc.array(interval, { minLength: 1, maxLength: 60 }), (intervals) => {
        const scale = createTimeScale(intervals)
        const moments = intervals.flatMap(({ from, to }) => [from, to]).sort((a, b) => a - b)
        const places = moments.map((ms) => scale.at(ms))
        for (const [i, place] of places.entries()) {
          expect(place).toBeGreaterThanOrEqual(0)
          expect(place).toBeLessThanOrEqual(1 + 1e-9)
          expect(place).toBeGreaterThanOrEqual((places[i - 1] ?? 0) - 1e-9)
        }
      }),
    )
  })

  it('of nothing is empty', () => {
    expect(createTimeScale([]).at(5)).toBe(0)
  })
})
