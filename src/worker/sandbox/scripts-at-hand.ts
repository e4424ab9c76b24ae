const MOST = 16

/** Which scripts a thread was sent and still has. Both sides keep the same list: the thread forgets what it is told to. */
export interface ScriptsAtHand {
  has(scriptId: string): boolean
  /** Returns the one that has to make room. */
  add(scriptId: string): string | undefined
}

export function createScriptsAtHand(): ScriptsAtHand {
  // In the order in which they were last asked for.
  const ids = new Set<string>()
  const touch = (scriptId: string): void => {
    ids.delete(scriptId)
    ids.add(scriptId)
  }
  return {
    has(scriptId) {
      const isThere = ids.has(scriptId)
      if (isThere) touch(scriptId)
      return isThere
    },
    add(scriptId) {
      touch(scriptId)
      const [oldest] = ids
      if (ids.size <= MOST || oldest === undefined) return undefined
      ids.delete(oldest)
      return oldest
    },
  }
}
