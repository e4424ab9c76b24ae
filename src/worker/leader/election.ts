import type { TabChannel, TabPorts } from './ports.ts'

const BEAT_MS = 250
/** A leader that is silent for this long is frozen: it still has its lock, so it is taken from it. */
const SILENCE_MS = 1200
/** A timer that comes this late means that we ourselves were asleep, and our picture of the others is old. */
const OVERSLEPT_MS = 500
const LONGEST_ANNOUNCED_WORK_MS = 60_000

/** One tab's time as the leader. A later one has a higher number. */
export interface Term {
  number: number
  leader: string
}

type Message =
  | { kind: 'beat'; term: Term }
  /** Who leads? Asked by a tab that has just arrived, so that it need not wait for the next beat. */
  | { kind: 'who' }
  /** The leader will be too busy to beat for a while. */
  | { kind: 'busy'; term: Term; forMs: number }

export interface ElectionEvents {
  onElected: (term: Term) => void
  /** No longer the leader: the lock was stolen, somebody leads in a later term, or it resigned. */
  onDemoted: (term: Term) => void
  /** Another tab leads. Told once per term. */
  onLeaderSeen: (term: Term) => void
}

/**
 * One leader among the tabs. A Web Lock elects: when its holder closes or crashes the browser gives the lock to the next in the
 * queue at once. A frozen holder keeps it, so followers listen for a heartbeat and steal the lock when it stops.
 *
 * Two tabs may believe to lead for a moment (one was frozen and wakes up). That is harmless: only the owner of the newest epoch
 * can write (see persistence), and the older one steps down as soon as it hears of a later term.
 */
export class Election {
  readonly #ports: TabPorts
  readonly #name: string
  readonly #events: ElectionEvents
  readonly #channel: TabChannel
  /** The latest term heard of, our own included. */
  #latest: Term | null = null
  #own: { term: Term; end: () => void } | null = null
  #waiting: AbortController | null = null
  #heardAt = 0
  /** The leader said that it would be silent until then. */
  #busyUntil = 0
  #isStopped = false
  #cancelTimer: (() => void) | null = null

  constructor(ports: TabPorts, name: string, events: ElectionEvents) {
    this.#ports = ports
    this.#name = name
    this.#events = events
    this.#channel = ports.openChannel(`${name}:election`)
    this.#channel.onMessage = (message) => this.#hear(message as Message)
  }

  start(): void {
    this.#heardAt = this.#ports.now()
    this.#post({ kind: 'who' })
    this.#queue()
    this.#tick(this.#ports.now())
  }

  /** Steps down and goes to the end of the queue. */
  resign(): void {
    this.#demote()
    this.#queue()
  }

  /** For good: the tab is closing. */
  stop(): void {
    this.#isStopped = true
    this.#waiting?.abort()
    this.#cancelTimer?.()
    this.#demote()
    this.#channel.close()
  }

  /** Long synchronous work ahead (checking a large file): do not take the silence for a frozen tab. 0 when it is done. */
  announceWork(forMs: number): void {
    if (this.#own) this.#post({ kind: 'busy', term: this.#own.term, forMs })
  }

  #queue(options: { steal: true } | null = null): void {
    if (this.#isStopped || this.#own) return
    this.#waiting?.abort()
    const waiting = new AbortController()
    this.#waiting = waiting
    const held = { term: null as Term | null }
    this.#ports.locks
      .request(`${this.#name}:leader`, options ?? { signal: waiting.signal }, () => {
        if (this.#isStopped || this.#waiting !== waiting) return Promise.resolve()
        return new Promise<void>((end) => (held.term = this.#lead(end)))
      })
      .catch(() => undefined)
      .then(() => this.#released(held.term))
      .catch(() => undefined)
  }

  #lead(end: () => void): Term {
    const number = Math.max(this.#ports.now(), (this.#latest?.number ?? 0) + 1)
    const term = { number, leader: this.#ports.newId() }
    this.#waiting = null
    this.#own = { term, end }
    this.#latest = term
    this.#post({ kind: 'beat', term })
    this.#events.onElected(term)
    return term
  }

  /** The lock is gone: given back by us, or stolen. */
  #released(term: Term | null): void {
    if (!term || this.#own?.term !== term) return
    this.#demote()
    this.#queue()
  }

  #demote(): void {
    const own = this.#own
    if (!own) return
    this.#own = null
    this.#heardAt = this.#ports.now()
    own.end()
    this.#events.onDemoted(own.term)
  }

  #hear(message: Message): void {
    if (message.kind === 'who') {
      if (this.#own) this.#post({ kind: 'beat', term: this.#own.term })
      return
    }
    const { term } = message
    if (this.#latest && term.number < this.#latest.number) return
    const isNews = this.#latest?.leader !== term.leader
    this.#latest = term
    const now = this.#ports.now()
    this.#heardAt = now
    // Only its own word ends it early: work that waits in between lets beats through.
    if (message.kind === 'busy') this.#busyUntil = now + Math.min(message.forMs, LONGEST_ANNOUNCED_WORK_MS)
    else if (isNews) this.#busyUntil = 0
    if (!isNews) return
    if (this.#own) {
      this.#demote()
      this.#queue()
    }
    this.#events.onLeaderSeen(term)
  }

  #tick(dueAt: number): void {
    if (this.#isStopped) return
    const now = this.#ports.now()
    const hasOverslept = now - dueAt > OVERSLEPT_MS
    if (hasOverslept) this.#heardAt = now
    if (this.#own) this.#post({ kind: 'beat', term: this.#own.term })
    else if (now - Math.max(this.#heardAt, this.#busyUntil) > SILENCE_MS) this.#steal()
    this.#cancelTimer = this.#ports.after(BEAT_MS, () => this.#tick(now + BEAT_MS))
  }

  /** Several followers notice at the same time: only one of them steals. */
  #steal(): void {
    this.#heardAt = this.#ports.now()
    this.#ports.locks
      .request(`${this.#name}:steal`, { ifAvailable: true }, (lock) => {
        if (lock) this.#queue({ steal: true })
        return new Promise((resolve) => this.#ports.after(BEAT_MS, resolve))
      })
      .catch(() => undefined)
  }

  #post(message: Message): void {
    this.#channel.post(message)
  }
}
