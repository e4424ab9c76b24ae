import type { AbortSignalLike } from '../ports/sandbox.ts'

/** The engine has no DOM types, and adapters that need a real AbortSignal can make one from this. */
export const createAbort = (): { signal: AbortSignalLike; abort(): void } => {
  const listeners = new Set<() => void>()
  let aborted = false
  return {
    signal: {
      get aborted() {
        return aborted
      },
      addEventListener: (_type, listener) => {
        if (aborted) listener()
        else listeners.add(listener)
      },
      removeEventListener: (_type, listener) => {
        listeners.delete(listener)
      },
    },
    abort: () => {
      if (aborted) return
      aborted = true
      for (const listener of listeners) listener()
      listeners.clear()
    },
  }
}
