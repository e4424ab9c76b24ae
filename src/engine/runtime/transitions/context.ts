import { EngineBug } from '../../model/errors.ts'
import type { Result } from '../../model/result.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Store, StoreWrites } from '../../ports/store.ts'
import type { Notice } from '../notices.ts'

export interface TransitionPorts {
  store: Store
  clock: Clock
  ids: Ids
  /** In a group of transitions it is told before the COMMIT, and has to see to it that nothing of it outlives a rollback. */
  notify(notice: Notice): void
}

/** One transition under way: everything it writes goes through `tx`, and its notices are sent only if it commits. */
export interface Transition {
  tx: StoreWrites
  now: number
  ids: Ids
  note(notice: Notice): void
}

export type Commit = <T>(work: (transition: Transition) => T) => T

export const createCommit = ({ store, clock, ids, notify }: TransitionPorts): Commit => {
  return (work) => {
    const notices: Notice[] = []
    const value = store.transaction((tx) => work({ tx, now: clock.now(), ids, note: (notice) => notices.push(notice) }))
    for (const notice of notices) notify(notice)
    return value
  }
}

/** For moves that the engine itself chose: refusing one is a bug of ours, and the throw rolls the transaction back. */
export const must = <T>(result: Result<T>): T => {
  if (result.ok) return result.value
  throw new EngineBug(result.error.message)
}

export const mustExist = <T>(row: T | undefined, what: string): T => {
  if (row === undefined) throw new EngineBug(`${what} is gone.`)
  return row
}
