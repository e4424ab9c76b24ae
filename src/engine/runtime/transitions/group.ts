import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import type { Store } from '../../ports/store.ts'

/**
 * Several transitions in one COMMIT. Each of them is still wholly inside of a transaction; what they are to those outside of it
 * comes after the COMMIT.
 */
export interface Group {
  /** Performs `work` as one. What comes back as an error was thrown by it, or by the COMMIT: then nothing of it has happened. */
  inOneCommit<T>(work: () => T): Result<T, unknown>
  /** After the COMMIT, in the order in which it was asked for; at once where no group is open. Never, if it is rolled back. */
  afterCommit(act: () => void): void
  /**
   * For what is kept in memory and has to change with the transition, because the next one is chosen by it. `remember` returns
   * how to put back what is there now; it is called when the group is rolled back, and not even asked for where none is open.
   */
  unlessRolledBack(remember: () => () => void): void
}

export const createGroup = (store: Pick<Store, 'together'>): Group => {
  let open: { afterwards: (() => void)[]; restore: (() => void)[] } | null = null

  const inOneCommit = <T>(work: () => T): Result<T, unknown> => {
    const mine = { afterwards: [] as (() => void)[], restore: [] as (() => void)[] }
    let value: T
    open = mine
    try {
      value = store.together(work)
    } catch (thrown) {
      // Nothing else ran meanwhile, so what was remembered first is exactly what was there before the group.
      for (const restore of mine.restore.reverse()) restore()
      return err(thrown)
    } finally {
      open = null
    }
    for (const act of mine.afterwards) act()
    return ok(value)
  }

  return {
    inOneCommit,
    afterCommit: (act) => {
      if (open === null) act()
      else open.afterwards.push(act)
    },
    unlessRolledBack: (remember) => {
      open?.restore.push(remember())
    },
  }
}
