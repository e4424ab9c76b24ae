import type { SessionEvent } from '../../model/session.ts'
import type { Durability } from '../../ports/durability.ts'
import type { StoreReads } from '../../ports/store.ts'

/** Gets events in the order of their ids: none twice, none left out. */
export type SessionListener = (events: readonly SessionEvent[]) => void

export interface EventStream {
  /** Everything after `afterEventId`, now and from now on. The returned function ends it. */
  subscribe(sessionId: string, afterEventId: number, listener: SessionListener): () => void
  changed(sessionId: string): void
}

const batch = 500

interface Subscription {
  sessionId: string
  toldUpTo: number
  listener: SessionListener
}

/**
 * An event is told only when it is on disk. Otherwise somebody who outlives this tab could be told of number 17, the tab could
 * die, and number 17 of the next life would be another event that he never hears of.
 */
export const createEventStream = (store: StoreReads, durability: Pick<Durability, 'barrier'>): EventStream => {
  const subscriptions = new Set<Subscription>()
  const telling = new Set<string>()
  const changedMeanwhile = new Set<string>()

  const ofSession = (sessionId: string): Subscription[] =>
    [...subscriptions].filter((subscription) => subscription.sessionId === sessionId)

  const tell = (subscription: Subscription, upTo: number): void => {
    while (subscriptions.has(subscription) && subscription.toldUpTo < upTo) {
      const events = store.sessionEvents
        .after(subscription.sessionId, subscription.toldUpTo, batch)
        .filter(({ id }) => id <= upTo)
      const last = events.at(-1)
      if (last === undefined) return
      subscription.toldUpTo = last.id
      try {
        subscription.listener(events)
      } catch {
        // Whoever cannot listen any more does not keep the others from hearing.
        subscriptions.delete(subscription)
      }
    }
  }

  const pass = async (sessionId: string): Promise<void> => {
    if (telling.has(sessionId)) {
      changedMeanwhile.add(sessionId)
      return
    }
    telling.add(sessionId)
    try {
      do {
        changedMeanwhile.delete(sessionId)
        const upTo = store.sessionEvents.lastId(sessionId)
        await durability.barrier()
        for (const subscription of ofSession(sessionId)) tell(subscription, upTo)
      } while (changedMeanwhile.has(sessionId))
    } catch {
      // This engine is no longer the owner of the data: the next owner tells the rest to those who ask it.
    } finally {
      telling.delete(sessionId)
    }
  }

  return {
    subscribe: (sessionId, afterEventId, listener) => {
      const subscription = { sessionId, toldUpTo: afterEventId, listener }
      subscriptions.add(subscription)
      void pass(sessionId)
      return () => void subscriptions.delete(subscription)
    },
    changed: (sessionId) => {
      if (ofSession(sessionId).length > 0) void pass(sessionId)
    },
  }
}
