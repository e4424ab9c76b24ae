/** Whoever has least under way comes first; among equals, whoever was served longest ago. */
export interface FairQueue<T> {
  readonly size: number
  put(key: string, item: T): void
  take(underWay: (key: string) => number): T | undefined
  /** Everything that still waits, in no particular order. */
  clear(): T[]
}

export function createFairQueue<T>(): FairQueue<T> {
  // In the order in which the keys were last served: a Map remembers it.
  const waiting = new Map<string, T[]>()
  let size = 0

  const choose = (underWay: (key: string) => number): string | undefined => {
    let chosen: string | undefined
    for (const key of waiting.keys()) if (chosen === undefined || underWay(key) < underWay(chosen)) chosen = key
    return chosen
  }

  return {
    get size() {
      return size
    },
    put(key, item) {
      const items = waiting.get(key)
      if (items === undefined) waiting.set(key, [item])
      else items.push(item)
      size += 1
    },
    take(underWay) {
      const key = choose(underWay)
      const items = key === undefined ? undefined : waiting.get(key)
      if (key === undefined || items === undefined) return undefined
      waiting.delete(key)
      const item = items.shift()
      if (items.length > 0) waiting.set(key, items)
      size -= 1
      return item
    },
    clear() {
      const items = [...waiting.values()].flat()
      waiting.clear()
      size = 0
      return items
    },
  }
}
