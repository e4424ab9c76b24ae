import { CallLost, type CallTarget } from './call-channel.ts'
import type { TabPorts } from './ports.ts'

/** How long a call waits for a leader to be found before it is answered with an error. */
const LEADERLESS_MS = 15_000

export interface RelayOptions {
  /** May be asked again when the leader died before it answered: they change nothing. */
  isReadOnly: (method: string) => boolean
  /** Take a listener and stay: renewed at each new leader. */
  isSubscription: (method: string) => boolean
  /**
   * The answer to a call that was under way when the leader died (`sent`: it may have been carried out), or for which no leader
   * was found (not `sent`: it was not).
   */
  lostAnswer: (method: string, wasSent: boolean) => unknown
}

interface Subscription {
  method: string
  args: readonly unknown[]
  /** Ends it at the leader that serves it now. */
  end: unknown
}

/**
 * Stands for the engine towards the tab's own page, wherever the engine runs at the moment. A call is answered in any case: by
 * the leader, by its successor when it only reads, or by a clear error. It is never sent twice when it could change something.
 */
export class Relay {
  readonly #options: RelayOptions
  readonly #ports: Pick<TabPorts, 'after'>
  #target: CallTarget | null = null
  #arrivals: (() => void)[] = []
  readonly #subscriptions = new Set<Subscription>()

  constructor(ports: Pick<TabPorts, 'after'>, options: RelayOptions) {
    this.#ports = ports
    this.#options = options
  }

  /** From here on calls go there; null while there is no leader. */
  setTarget(target: CallTarget | null): void {
    this.#target = target
    if (!target) return
    for (const arrive of this.#arrivals.splice(0)) arrive()
    for (const subscription of this.#subscriptions) void this.#subscribe(target, subscription)
  }

  async call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#options.isSubscription(method)) return this.#open({ method, args, end: undefined })
    return this.#ask(method, args)
  }

  async #ask(method: string, args: readonly unknown[]): Promise<unknown> {
    for (;;) {
      const target = this.#target ?? (await this.#nextTarget())
      if (!target) return this.#options.lostAnswer(method, false)
      try {
        return await target.call(method, args)
      } catch (error) {
        if (!(error instanceof CallLost)) throw error
        if (!this.#options.isReadOnly(method)) return this.#options.lostAnswer(method, true)
        if (this.#target === target) this.#target = null
      }
    }
  }

  /** Answers with a function that ends the subscription. */
  async #open(subscription: Subscription): Promise<() => void> {
    this.#subscriptions.add(subscription)
    // A leader that arrives is told of every subscription, of this one too.
    if (this.#target) await this.#subscribe(this.#target, subscription)
    else await this.#nextTarget()
    return () => {
      this.#subscriptions.delete(subscription)
      if (typeof subscription.end === 'function') (subscription.end as () => void)()
    }
  }

  async #subscribe(target: CallTarget, subscription: Subscription): Promise<void> {
    try {
      subscription.end = await target.call(subscription.method, subscription.args)
    } catch (error) {
      // The next leader renews it.
      if (!(error instanceof CallLost)) throw error
    }
  }

  #nextTarget(): Promise<CallTarget | null> {
    return new Promise((resolve) => {
      const cancel = this.#ports.after(LEADERLESS_MS, () => resolve(null))
      this.#arrivals.push(() => {
        cancel()
        resolve(this.#target)
      })
    })
  }
}
