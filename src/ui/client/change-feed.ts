import { changesChannel, type ChangeNotice } from '#engine/model/change-notice.ts'

type Listener = () => void

/** Passes on which tables changed, from whichever tab leads, to whoever shows one of them. */
export class ChangeFeed {
  readonly #listeners = new Map<Listener, readonly string[] | 'all'>()
  readonly #channel = new BroadcastChannel(changesChannel)
  #missed = false

  constructor() {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<ChangeNotice>) => this.#hear(data.tables))
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden' || !this.#missed) return
      this.#missed = false
      this.tellAll()
    })
  }

  subscribe(tables: readonly string[], listener: Listener): () => void {
    this.#listeners.set(listener, tables)
    return () => this.#listeners.delete(listener)
  }

  subscribeToAll(listener: Listener): () => void {
    this.#listeners.set(listener, 'all')
    return () => this.#listeners.delete(listener)
  }

  /** As if everything had changed: after a restart, or when the tab is looked at again. */
  tellAll(): void {
    for (const listener of [...this.#listeners.keys()]) listener()
  }

  #hear(changed: readonly string[]): void {
    // Nobody sees a hidden tab: it reads once, when it is looked at again.
    this.#missed ||= document.visibilityState === 'hidden'
    if (this.#missed) return
    if (changed.length === 0) {
      this.tellAll()
      return
    }
    for (const [listener, tables] of [...this.#listeners]) {
      if (tables === 'all' || tables.some((table) => changed.includes(table))) listener()
    }
  }
}
