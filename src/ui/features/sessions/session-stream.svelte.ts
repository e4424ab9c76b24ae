import type { SessionEvent } from '#engine/model/session.ts'
import type { EngineApi } from '#worker/api.ts'
import type { ChangeFeed } from '../../client/change-feed.ts'

const PAGE = 200
/** Older ones go from the screen, not from the database. */
const KEPT = 2_000

/**
 * The events of a session as they happen. Each question asks for what comes after the last one known, one question at a time:
 * so there are neither gaps nor repetitions, whatever was missed.
 */
export class SessionStream {
  #events = $state.raw<readonly SessionEvent[]>([])
  #isAsking = false
  #isStale = false
  readonly #engine: EngineApi
  readonly #sessionId: string

  constructor(engine: EngineApi, sessionId: string) {
    this.#engine = engine
    this.#sessionId = sessionId
  }

  get events(): readonly SessionEvent[] {
    return this.#events
  }

  follow(changes: ChangeFeed): () => void {
    void this.#ask()
    return changes.subscribe(['session_events'], () => void this.#ask())
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) {
      this.#isStale = true
      return
    }
    this.#isAsking = true
    do {
      this.#isStale = false
      const after = this.#events.at(-1)?.id
      const options = after === undefined ? { limit: PAGE } : { after, limit: PAGE }
      const answer = await this.#engine.listSessionEvents(this.#sessionId, options)
      if (!answer.ok) break
      if (answer.value.length > 0) this.#events = [...this.#events, ...answer.value].slice(-KEPT)
      this.#isStale ||= answer.value.length === PAGE
    } while (this.#isStale)
    this.#isAsking = false
  }
}
