import type { EngineError } from '../../model/errors.ts'
import { engineError } from '../../model/errors.ts'
import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import type { Session, SessionContextEntry, SessionEvent, SessionMessage } from '../../model/session.ts'
import type { SessionStatus } from '../../model/session-status.ts'
import { parseId } from '../command-input.ts'
import type { EnginePorts } from '../ports.ts'
import { unknownSession } from '../transitions/sessions.ts'
import type { EventStream, SessionListener } from './event-stream.ts'
import { findSession } from './session-commands.ts'
import { describeSession } from './session-status.ts'
import type { SessionViews } from './session-views.ts'

const defaultLimit = 500
const greatestLimit = 5000

export const createSessionQueries = (
  { store, clock, durability }: Pick<EnginePorts, 'store' | 'clock' | 'durability'>,
  views: SessionViews,
  stream: EventStream,
) => {
  const getSessionStatus = (wanted: string): Result<SessionStatus> => {
    const id = parseId('a session', wanted)
    if (!id.ok) return id
    const view = views.get(id.value)
    return view === undefined ? err(unknownSession(id.value)) : ok(describeSession(view, clock.now()))
  }

  /** Only what is on disk: an id that was told is never given to another event. */
  const listSessionEvents = async (
    wanted: string,
    { after = 0, limit = defaultLimit }: { after?: number; limit?: number } = {},
  ): Promise<Result<SessionEvent[]>> => {
    const session = findSession(store, wanted)
    if (!session.ok) return session
    const refused = refuseNumber('after', after) ?? refuseNumber('limit', limit)
    if (refused !== null) return err(refused)
    const events = store.sessionEvents.after(session.value.id, after, Math.min(limit, greatestLimit))
    await durability.barrier()
    return ok(events)
  }

  /** Pushed, in order, from the event after `afterEventId` on; the value ends it. */
  const subscribeSession = (wanted: string, afterEventId: number, listener: SessionListener): Result<() => void> => {
    const session = findSession(store, wanted)
    if (!session.ok) return session
    const refused = refuseNumber('afterEventId', afterEventId)
    return refused === null ? ok(stream.subscribe(session.value.id, afterEventId, listener)) : err(refused)
  }

  const listSessionContext = (wanted: string): Result<SessionContextEntry[]> => {
    const session = findSession(store, wanted)
    return session.ok ? ok(store.sessionContext.list(session.value.id)) : session
  }

  const listSessionMessages = (wanted: string): Result<SessionMessage[]> => {
    const session = findSession(store, wanted)
    return session.ok ? ok(store.sessionMessages.list(session.value.id)) : session
  }

  return {
    /** Newest first. */
    listSessions: (): Session[] => store.sessions.list(),
    getSessionStatus,
    listSessionEvents,
    subscribeSession,
    listSessionContext,
    listSessionMessages,
  }
}

const refuseNumber = (name: string, value: unknown): EngineError | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? null
    : engineError('invalid_input', `\`${name}\` must be a whole number from 0 on.`)
