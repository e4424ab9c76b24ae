import type { EngineError } from '#engine/model/errors.ts'
import { ok, type Result } from '#engine/model/result.ts'
import type { Listed } from '#worker/api.ts'
import { createSubscriber } from 'svelte/reactivity'
import type { ChangeFeed } from '../client/change-feed.ts'
import { replaceStretch, type Stretch } from './replace-stretch.ts'

type Read<T> = (page: { before?: string; limit: number }) => Promise<Result<Listed<T>>>

const PAGE = 100
const SHORTEST_GAP_MS = 200

/**
 * A long list, newest first, of which only the part that was scrolled to is known. When tables change, only the stretch that is
 * in sight is read again. New rows appear at the top by themselves only while the top is in sight; otherwise they would push
 * away what is being read, so `hasNewer` says that there are some. A search answers piece by piece: what was found is shown while it
 * goes on, and it ends when nobody looks at the list any more.
 */
export class PagedList<T extends { id: string }> {
  #rows = $state.raw<readonly T[]>([])
  #hasMore = $state.raw(true)
  #hasNewer = $state.raw(false)
  #error = $state.raw<EngineError | null>(null)
  #isLoaded = $state.raw(false)
  #isSearching = $state.raw(false)
  #isWatched = false
  #isReading = false
  #readMs = 0
  #isStale = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #first = 0
  #last = PAGE
  readonly #read: Read<T>
  readonly #subscribe: () => void

  constructor(changes: ChangeFeed, tables: readonly string[], read: Read<T>) {
    this.#read = read
    this.#subscribe = createSubscriber(() => {
      const unsubscribe = changes.subscribe(tables, () => this.#refreshSoon())
      this.#isWatched = true
      void this.#refresh()
      return () => {
        unsubscribe()
        this.#isWatched = false
        clearTimeout(this.#timer)
        this.#timer = undefined
      }
    })
  }

  get rows(): readonly T[] {
    this.#subscribe()
    return this.#rows
  }

  get hasMore(): boolean {
    return this.#hasMore
  }

  get hasNewer(): boolean {
    return this.#hasNewer
  }

  get error(): EngineError | null {
    return this.#error
  }

  /** False until the first answer. */
  get isLoaded(): boolean {
    this.#subscribe()
    return this.#isLoaded
  }

  /** Some are shown already, or none yet, and older ones are still looked through. */
  get isSearching(): boolean {
    return this.#isSearching
  }

  /** Which rows are in sight. */
  see(first: number, last: number): void {
    const cameBack = this.#first > 0 && first === 0
    this.#first = first
    this.#last = last
    if (cameBack && this.#hasNewer) void this.#refresh()
  }

  async loadMore(): Promise<void> {
    if (this.#isReading || !this.#hasMore || !this.#isLoaded) return
    await this.#readStretch(this.#rows.at(-1)?.id, PAGE)
  }

  async #refresh(): Promise<void> {
    if (this.#isReading) {
      this.#isStale = true
      return
    }
    if (this.#first === 0) await this.#readStretch(undefined, Math.max(PAGE, this.#last))
    else {
      await this.#readStretch(this.#rows[this.#first - 1]?.id, this.#last - this.#first + 1)
      await this.#lookForNewer()
    }
  }

  #refreshSoon(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        void this.#refresh()
        // A search through everything must not begin again as soon as it has ended: the engine would do nothing else.
      },
      Math.max(SHORTEST_GAP_MS, this.#readMs),
    )
  }

  async #readStretch(before: string | undefined, limit: number): Promise<void> {
    this.#isReading = true
    const startedAt = performance.now()
    const answer = await this.#search(before, limit)
    this.#readMs = performance.now() - startedAt
    this.#isReading = false
    this.#isSearching = false
    // Ended before its end, because nobody looks any more.
    if (!this.#isWatched) return
    this.#isLoaded = true
    if (!answer.ok) {
      this.#error = answer.error
      return
    }
    const stretch: Stretch<T> = { before, ...answer.value }
    const reachesEnd = !stretch.hasMore || before === this.#rows.at(-1)?.id || this.#rows.length <= stretch.rows.length
    this.#rows = replaceStretch(this.#rows, stretch)
    if (reachesEnd) this.#hasMore = stretch.hasMore
    if (before === undefined) this.#hasNewer = false
    this.#error = null
    const isStale = this.#isStale
    this.#isStale = false
    if (isStale) this.#refreshSoon()
  }

  /** As many rows as are wanted, in as many answers as it takes. */
  async #search(before: string | undefined, limit: number): Promise<Result<Listed<T>>> {
    const rows: T[] = []
    for (let from = before; ;) {
      const answer = await this.#read({ limit: limit - rows.length, ...(from !== undefined && { before: from }) })
      if (!answer.ok) return answer
      rows.push(...answer.value.rows)
      const { hasMore, lookedTo } = answer.value
      if (lookedTo === undefined || rows.length >= limit || !this.#isWatched) return ok({ rows, hasMore })
      from = lookedTo
      this.#isSearching = true
      if (!this.#isLoaded && rows.length > 0) this.#rows = [...rows]
    }
  }

  async #lookForNewer(): Promise<void> {
    const answer = await this.#read({ limit: 1 })
    const newest = answer.ok ? answer.value.rows[0] : undefined
    const known = this.#rows[0]
    this.#hasNewer = newest !== undefined && known !== undefined && newest.id > known.id
  }
}
