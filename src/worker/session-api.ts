import { ok } from '#engine/model/result.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import type { EngineApi } from './api.ts'

type SessionApi = Pick<
  EngineApi,
  | 'createSession'
  | 'startSession'
  | 'pauseSession'
  | 'resumeSession'
  | 'cancelSession'
  | 'retryAgent'
  | 'addAgent'
  | 'cloneSession'
  | 'deleteSession'
  | 'listSessions'
  | 'getSessionStatus'
  | 'listSessionEvents'
  | 'listSessionContext'
  | 'listSessionMessages'
>

/** Sessions as a page sees them. */
export const createSessionApi = (engine: Engine): SessionApi => ({
  createSession: engine.createSession,
  startSession: engine.startSession,
  pauseSession: engine.pauseSession,
  resumeSession: engine.resumeSession,
  cancelSession: engine.cancelSession,
  retryAgent: engine.retryAgent,
  addAgent: engine.addAgent,
  cloneSession: engine.cloneSession,
  deleteSession: engine.deleteSession,
  listSessions: () => Promise.resolve(ok(engine.listSessions())),
  getSessionStatus: (id) => Promise.resolve(engine.getSessionStatus(id)),
  listSessionEvents: engine.listSessionEvents,
  listSessionContext: (id) => Promise.resolve(engine.listSessionContext(id)),
  listSessionMessages: (id) => Promise.resolve(engine.listSessionMessages(id)),
})
