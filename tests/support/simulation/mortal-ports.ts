import type { CrashPoint } from '#engine/ports/crash-point.ts'
import type { Clock } from '#engine/ports/clock.ts'
import type { CrashPoints } from '#engine/ports/crash-point.ts'
import type { Durability } from '#engine/ports/durability.ts'
import type { Store } from '#engine/ports/store.ts'
import type { Tools } from '#engine/ports/tools.ts'

/** Thrown at the moment of death and ever after: whatever of the engine still runs can change nothing any more. */
export class TabDied extends Error {
  override name = 'TabDied'
}

export type Opportunity = CrashPoint | 'before_commit' | 'after_commit' | 'before_flush'

/** One life of a tab: counts every opportunity to die, and dies at the one it was given. */
export interface Life {
  isDead(): boolean
  opportunities(): number
  /** Where it died; null while alive. */
  diedAt(): Opportunity | null
  reach(opportunity: Opportunity): void
  kill(): void
}

export const createLife = (diesAt: number): Life => {
  let opportunities = 0
  let diedAt: Opportunity | null = null
  let isDead = false
  return {
    isDead: () => isDead,
    opportunities: () => opportunities,
    diedAt: () => diedAt,
    reach: (opportunity) => {
      if (isDead) throw new TabDied()
      opportunities += 1
      if (opportunities !== diesAt) return
      isDead = true
      diedAt = opportunity
      throw new TabDied()
    },
    kill: () => {
      isDead = true
    },
  }
}

/** The store of a mortal: it can die just before and just after every commit, and a dead one writes nothing. */
export const mortalStore = (store: Store, life: Life, onCommit: () => void): Store => {
  let group: { isBegun: boolean } | null = null

  const committed = <T>(value: T): T => {
    onCommit()
    life.reach('after_commit')
    return value
  }

  return {
    ...store,
    transaction: (work) => {
      if (life.isDead()) throw new TabDied()
      if (group !== null) {
        group.isBegun = true
        return store.transaction(work)
      }
      return committed(
        store.transaction((tx) => {
          const result = work(tx)
          life.reach('before_commit')
          return result
        }),
      )
    },
    together: (work) => {
      if (life.isDead()) throw new TabDied()
      const mine = { isBegun: false }
      group = mine
      try {
        const value = store.together(() => {
          const result = work()
          if (mine.isBegun) life.reach('before_commit')
          return result
        })
        group = null
        return mine.isBegun ? committed(value) : value
      } finally {
        group = null
      }
    },
    checkInvariants: () => store.checkInvariants(),
  }
}

export const mortalDurability = (life: Life, flush: () => void): Durability => ({
  barrier: () => {
    life.reach('before_flush')
    flush()
    return Promise.resolve()
  },
  flushSoon: () => {
    if (!life.isDead()) flush()
  },
  isAccepting: () => !life.isDead(),
})

export const mortalCrashPoints = (life: Life): CrashPoints => ({ reach: (point) => life.reach(point) })

/** The dead send nothing and hear nothing. */
export const mortalTools = (tools: Tools, life: Life): Tools => {
  const mortals = tools.list().map((method) => ({
    ...method,
    call: async (...args: Parameters<typeof method.call>) => {
      if (life.isDead()) throw new TabDied()
      return method.call(...args)
    },
  }))
  return {
    ...tools,
    find: (namespace, name) => mortals.find((one) => one.namespace === namespace && one.method === name),
    list: () => mortals,
  }
}

export const mortalClock = (clock: Clock, life: Life): Clock => ({
  ...clock,
  now: () => clock.now(),
  wakeAt: (at, wake) =>
    clock.wakeAt(at, () => {
      if (!life.isDead()) wake()
    }),
})
