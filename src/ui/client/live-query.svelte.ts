import { engineError, type EngineError } from '#engine/model/errors.ts'
import type { Result } from '#engine/model/result.ts'
import { createSubscriber } from 'svelte/reactivity'
import type { ChangeFeed } from './change-feed.ts'

export type LiveView<T> = { kind: 'loading' } | { kind: 'ready'; value: T } | { kind: 'failed'; error: EngineError }

/** A busy engine changes tables many times a second; nobody reads that fast. */
const SHORTEST_GAP_MS = 120

/**
 * A question to the engine that is asked again whenever one of its tables changes. It is asked only while somebody reads the
 * answer in a template or an effect, one question at a time: what changes meanwhile causes one more, not one each.
 */
export class LiveQuery<T> {
  #view = $state.raw<LiveView<T>>({ kind: 'loading' })
  #isReading = false
  #isStale = false
  #lastReadAt = -Infinity
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #read: () => Promise<Result<T>>
  readonly #subscribe: () => void

  constructor(changes: ChangeFeed, tables: readonly string[], read: () => Promise<Result<T>>) {
    this.#read = read
    this.#subscribe = createSubscriber(() => {
      const unsubscribe = changes.subscribe(tables, () => this.refresh())
      this.refresh()
      return () => {
        unsubscribe()
        clearTimeout(this.#timer)
        this.#timer = undefined
      }
    })
  }

  get view(): LiveView<T> {
    this.#subscribe()
    return this.#view
  }

  /** Undefined while it is not known. */
  get value(): T | undefined {
    const { view } = this
    return view.kind === 'ready' ? view.value : undefined
  }

  refresh(): void {
    if (this.#isReading) {
      this.#isStale = true
      return
    }
    const waitMs = this.#lastReadAt + SHORTEST_GAP_MS - performance.now()
    if (waitMs <= 0) void this.#readNow()
    else this.#timer ??= setTimeout(() => void this.#readNow(), waitMs)
  }

  async #readNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isReading = true
    this.#lastReadAt = performance.now()
    const answer = await this.#read().catch((thrown: unknown): Result<T> => ({
      ok: false,
      error: engineError('internal', String(thrown)),
    }))
    this.#view = answer.ok ? { kind: 'ready', value: answer.value } : { kind: 'failed', error: answer.error }
    this.#isReading = false
    const isStale = this.#isStale
    this.#isStale = false
    if (isStale) this.refresh()
  }
}
