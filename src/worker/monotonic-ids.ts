import type { Clock } from '#engine/ports/clock.ts'
import type { Ids } from '#engine/ports/ids.ts'
import { decodeTime, monotonicFactory } from 'ulid'

/** How many characters of an id are the ULID; what stands before them is the prefix. */
const ulidLength = 26

/**
 * ULIDs that only ever grow: within a millisecond by counting up, and after a restart or a clock set back by going on from the
 * greatest id that is already there.
 */
export const createMonotonicIds = (clock: Clock, random: () => number, greatestId: string | null): Ids => {
  const nextUlid = monotonicFactory(random)
  let floor = greatestId === null ? 0 : decodeTime(greatestId.slice(-ulidLength)) + 1
  return {
    next: (prefix) => {
      floor = Math.max(floor, clock.now())
      return `${prefix}_${nextUlid(floor)}`
    },
    random,
  }
}
