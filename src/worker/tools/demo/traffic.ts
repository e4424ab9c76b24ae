import { chance } from './chance.ts'

/** From its origin on, one arrival falls somewhere into each slot of `everyMs`. Zero means that nothing arrives. */
export interface Stretch {
  first: number
  origin: number
  everyMs: number
}

/** When things arrive. A new stretch begins when the pace is changed or when nobody looked for a long time. */
export interface Traffic {
  stretches: [Stretch, ...Stretch[]]
  seenAt: number
}

/** A world that was left alone for a week greets with this many arrivals, not with a week's worth. */
const CATCH_UP = 50

export const startTraffic = (now: number, everyMs: number, initial: number): Traffic => ({
  stretches: [
    { first: 0, origin: now - initial * 60_000, everyMs: 60_000 },
    { first: initial, origin: now, everyMs },
  ],
  seenAt: now,
})

export function setPace(seed: string, traffic: Traffic, now: number, everyMs: number): Traffic {
  const next = { first: arrivedCount(seed, traffic, now), origin: now, everyMs }
  return { stretches: [...traffic.stretches, next], seenAt: now }
}

/** Returns the same object when there is nothing worth remembering. */
export function look(seed: string, traffic: Traffic, now: number): Traffic {
  const { everyMs } = last(traffic)
  const away = now - traffic.seenAt
  if (everyMs > 0 && away > CATCH_UP * everyMs) {
    const first = arrivedCount(seed, traffic, traffic.seenAt)
    return { stretches: [...traffic.stretches, { first, origin: now - CATCH_UP * everyMs, everyMs }], seenAt: now }
  }
  return away > 60_000 ? { ...traffic, seenAt: now } : traffic
}

export function arrivedAt(seed: string, traffic: Traffic, n: number): number {
  const stretch = traffic.stretches.findLast((candidate) => candidate.first <= n) ?? traffic.stretches[0]
  return arrivalIn(seed, stretch, n)
}

/** How many have arrived by `now`; they are numbered from zero. */
export function arrivedCount(seed: string, traffic: Traffic, now: number): number {
  const stretch = traffic.stretches.findLast((candidate) => candidate.origin <= now)
  if (!stretch) return 0
  const following = traffic.stretches[traffic.stretches.indexOf(stretch) + 1]
  const most = following?.first ?? Infinity
  if (stretch.everyMs === 0) return Math.min(stretch.first, most)
  const slot = stretch.first + Math.floor((now - stretch.origin) / stretch.everyMs)
  return Math.min(arrivalIn(seed, stretch, slot) <= now ? slot + 1 : slot, most)
}

function arrivalIn(seed: string, stretch: Stretch, n: number): number {
  const slotStart = stretch.origin + (n - stretch.first) * stretch.everyMs
  return Math.floor(slotStart + chance(seed, 'arrival', n) * stretch.everyMs)
}

const last = (traffic: Traffic): Stretch => traffic.stretches.at(-1) ?? traffic.stretches[0]
