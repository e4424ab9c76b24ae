import { changesChannel, type ChangeNotice } from '#engine/model/change-notice.ts'
import type { Result } from '#engine/model/result.ts'
import { ok } from '#engine/model/result.ts'
import type { SessionEvent } from '#engine/model/session.ts'
import type { EngineApi } from '#worker/api.ts'

/** Gets events in the order of their ids: none twice, none left out. */
export type SessionListener = (events: readonly SessionEvent[]) => void

export interface SessionStream {
  /** Everything after `afterEventId`, now and from now on. The value ends it. */
  subscribeSession(id: string, afterEventId: number, listener: SessionListener): Promise<Result<() => void>>
}

/** Word that the session events, or everything, may have changed: from whichever tab leads. */
export type Notices = (listener: () => void) => () => void

const batch = 500

/**
 * Pushed and never polled: the engine broadcasts after a commit, and this asks for what came after the last event that was told.
 * The engine answers with what is on disk only, so neither the death of the leading tab nor a new engine makes a gap or a repeat;
 * whoever leads next broadcasts first of all.
 */
export const createSessionStream = (
  engine: Pick<EngineApi, 'listSessionEvents'>,
  notices: Notices = broadcastNotices,
): SessionStream => ({
  async subscribeSession(id, afterEventId, listener) {
    let toldUpTo = afterEventId
    let isEnded = false
    let isAsking = false
    let isStale = false

    const ask = async (): Promise<Result<SessionEvent[]>> => {
      const answer = await engine.listSessionEvents(id, { after: toldUpTo, limit: batch })
      const last = answer.ok ? answer.value.at(-1) : undefined
      if (answer.ok && last !== undefined && !isEnded) {
        toldUpTo = last.id
        listener(answer.value)
        isStale ||= answer.value.length === batch
      }
      return answer
    }

    const catchUp = async (): Promise<void> => {
      isStale = true
      if (isAsking) return
      isAsking = true
      while (isStale && !isEnded) {
        isStale = false
        // No answer now, because the tab that leads has just gone: the next one has word for us.
        await ask().catch(() => undefined)
      }
      isAsking = false
    }

    // Listening before asking: what comes between would be missed.
    const stop = notices(() => void catchUp())
    isAsking = true
    const first = await ask()
    isAsking = false
    if (!first.ok) {
      stop()
      return first
    }
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- a notice may have come during the first answer
    if (isStale) void catchUp()
    return ok(() => {
      isEnded = true
      stop()
    })
  },
})

/** A channel of its own for each: a hidden tab shows nothing, but it may well listen. */
const broadcastNotices: Notices = (listener) => {
  const channel = new BroadcastChannel(changesChannel)
  channel.addEventListener('message', ({ data: { tables } }: MessageEvent<ChangeNotice>) => {
    if (tables.length === 0 || tables.includes('session_events')) listener()
  })
  return () => channel.close()
}

/** The engine's API with the one method that cannot cross to another tab, because it is called back. */
export const withSessionStream = (engine: EngineApi): EngineApi & SessionStream => {
  const { subscribeSession } = createSessionStream(engine)
  return new Proxy(engine as EngineApi & SessionStream, {
    get: (target, method) => (method === 'subscribeSession' ? subscribeSession : target[method as keyof EngineApi]),
  })
}
