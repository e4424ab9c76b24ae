import { createSubscriber } from 'svelte/reactivity'

const TICK_MS = 1_000

/** The present, as something to read in a template. It ticks only while somebody looks, and not in a hidden tab. */
class TickingNow {
  readonly #subscribe = createSubscriber((update) => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') update()
    }, TICK_MS)
    document.addEventListener('visibilitychange', update)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', update)
    }
  })

  get ms(): number {
    this.#subscribe()
    return Date.now()
  }
}

export const now = new TickingNow()
