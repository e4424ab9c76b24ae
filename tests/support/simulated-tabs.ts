import type { TabChannel, TabLocks, TabPorts } from '#worker/leader/ports.ts'

interface HeldLock {
  tab: SimulatedTab
  release: () => void
}
interface QueuedLock {
  tab: SimulatedTab
  isGone: boolean
  grant: () => void
}

const MESSAGE_MS = 2

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A browser with tabs in it, and its own time. Tabs close, crash, freeze and wake up. */
export class SimulatedBrowser {
  now = 1_700_000_000_000
  readonly #tabs = new Set<SimulatedTab>()
  readonly #held = new Map<string, HeldLock>()
  readonly #queues = new Map<string, QueuedLock[]>()
  readonly #timers: { at: number; tab: SimulatedTab; wake: () => void; isGone: boolean }[] = []
  #ids = 0

  openTab(): SimulatedTab {
    const tab = new SimulatedTab(this)
    this.#tabs.add(tab)
    return tab
  }

  /** Closing and crashing are the same to the others: nothing of the tab runs any more, and its locks are free. */
  async close(tab: SimulatedTab): Promise<void> {
    this.#tabs.delete(tab)
    tab.isGone = true
    for (const [name, lock] of [...this.#held]) if (lock.tab === tab) this.#free(name, lock)
    for (const queue of this.#queues.values()) for (const each of queue) if (each.tab === tab) each.isGone = true
    await turn()
  }

  /** Lets time pass and everything happen that is due. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms
    for (;;) {
      await turn()
      const due = this.#timers.filter((timer) => !timer.isGone && timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      due.isGone = true
      this.now = Math.max(this.now, due.at)
      due.tab.run(due.wake)
    }
    this.now = until
    this.#timers.splice(0, this.#timers.length, ...this.#timers.filter((timer) => !timer.isGone))
    await turn()
  }

  portsOf(tab: SimulatedTab): TabPorts {
    return {
      locks: this.#locksOf(tab),
      openChannel: (name) => this.#openChannel(tab, name),
      now: () => this.now,
      after: (ms, wake) => {
        const timer = { at: this.now + ms, tab, wake, isGone: false }
        this.#timers.push(timer)
        return () => {
          timer.isGone = true
        }
      },
      newId: () => `id${++this.#ids}`,
    }
  }

  /** Messages take a while: in between, two tabs can come to the same conclusion. */
  #deliver(tab: SimulatedTab, wake: () => void): void {
    this.#timers.push({ at: this.now + MESSAGE_MS, tab, wake, isGone: false })
  }

  #openChannel(tab: SimulatedTab, name: string): TabChannel {
    const channel: TabChannel & { name: string } = {
      name,
      onMessage: null,
      post: (message) => {
        if (!tab.channels.has(channel) || tab.isGone) return
        const copy: unknown = structuredClone(message)
        for (const other of this.#tabs) {
          for (const each of other.channels) {
            if (each.name === name && each !== channel) this.#deliver(other, () => each.onMessage?.(copy))
          }
        }
      },
      close: () => tab.channels.delete(channel),
    }
    tab.channels.add(channel)
    return channel
  }

  #locksOf(tab: SimulatedTab): TabLocks {
    return {
      request: (name, { steal, ifAvailable, signal }, whileHeld) =>
        new Promise<void>((resolve, reject) => {
          const hold = () => {
            const lock: HeldLock = {
              tab,
              release: () => tab.run(() => reject(new DOMException('The lock was stolen.', 'AbortError'))),
            }
            this.#held.set(name, lock)
            tab.run(() => {
              whileHeld({}).then(
                () => {
                  this.#free(name, lock)
                  resolve()
                },
                (error: unknown) => {
                  this.#free(name, lock)
                  reject(error instanceof Error ? error : new Error(String(error)))
                },
              )
            })
          }
          if (steal) {
            this.#held.get(name)?.release()
            hold()
          } else if (!this.#held.has(name)) hold()
          else if (ifAvailable) tab.run(() => void whileHeld(null).then(resolve, reject))
          else {
            const queued: QueuedLock = { tab, isGone: false, grant: hold }
            this.#queues.set(name, [...(this.#queues.get(name) ?? []), queued])
            signal?.addEventListener('abort', () => {
              if (queued.isGone) return
              queued.isGone = true
              reject(new DOMException('The wait was given up.', 'AbortError'))
            })
          }
        }),
    }
  }

  #free(name: string, lock: HeldLock): void {
    if (this.#held.get(name) !== lock) return
    this.#held.delete(name)
    const queue = this.#queues.get(name) ?? []
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (next.isGone) continue
      next.isGone = true
      next.grant()
      return
    }
  }
}

export class SimulatedTab {
  isGone = false
  readonly channels = new Set<TabChannel & { name: string }>()
  readonly ports: TabPorts
  #frozen: (() => void)[] | null = null

  constructor(browser: SimulatedBrowser) {
    this.ports = browser.portsOf(this)
  }

  freeze(): void {
    this.#frozen ??= []
  }

  thaw(): void {
    const waiting = this.#frozen ?? []
    this.#frozen = null
    for (const work of waiting) this.run(work)
  }

  /** Work of this tab: not at all when it is gone, later when it is frozen. */
  run(work: () => void): void {
    if (this.isGone) return
    if (this.#frozen) this.#frozen.push(work)
    else
      queueMicrotask(() => {
        if (!this.isGone) work()
      })
  }
}
