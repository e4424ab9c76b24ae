export interface SeededRandom {
  /** 0 ≤ x < 1 */
  next(): number
  /** 0 ≤ n < limit, whole. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** An independent stream, so that one part drawing more does not shift another. */
  fork(): SeededRandom
}

/** mulberry32: small, fast, and the same on every machine. */
export const createSeededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('There is nothing to pick from.')
      return item
    },
    fork: () => createSeededRandom(Math.floor(next() * 4294967296)),
  }
}
