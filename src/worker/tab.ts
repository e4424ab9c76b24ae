import { engineError, type EngineError } from '#engine/model/errors.ts'
import { err, type Result } from '#engine/model/result.ts'
import { isReadMethod } from './api-methods.ts'
import type { EngineApi, EngineInfo } from './api.ts'
import { createBrokenApi } from './broken-engine.ts'
import { browserPorts } from './leader/browser-ports.ts'
import { createTabCoordinator, type LedEngine } from './leader/tab-coordinator.ts'
import { DATABASE_NAME, openEngine } from './open-engine.ts'
import { openDisk } from './persistence/open-disk.ts'
import { sqliteHere } from './sqlite-here.ts'

/** Longer than any opening takes; after it the other tabs may think this one is frozen. */
const OPENING_MS = 20_000
const ANSWER_FIRST_MS = 50

/** This tab among the others: leads with an engine of its own, or follows and uses the leader's. */
export function joinTabs(): EngineApi {
  const coordinator = createTabCoordinator<EngineApi>({
    name: DATABASE_NAME,
    ports: browserPorts(),
    isReadOnly: isReadMethod,
    isSubscription: () => false,
    lostAnswer: (method, wasSent) => err(lostCall(method, wasSent)),
    lead: async ({ resign, announceWork }): Promise<LedEngine<EngineApi>> => {
      announceWork(OPENING_MS)
      const opened = await openEngine({ onFenced: resign, onReplaced: resign, announceWork })
      announceWork(0)
      return opened.ok ? opened.value : { api: brokenApi(opened.error, resign), close: () => undefined }
    },
    onRole: (role) => {
      // Not while somebody waits for this tab's own first answer. If it fails, leading tries again and tells.
      if (role === 'follower') sqliteHere().catch(() => undefined)
    },
  })
  return withOwnRole(coordinator.api, () => (coordinator.role() === 'follower' ? 'follower' : 'leader'))
}

const brokenApi = (error: EngineError, resign: () => void): EngineApi =>
  createBrokenApi({
    error,
    openDisk: () => openDisk(DATABASE_NAME),
    sqlite: sqliteHere,
    now: Date.now,
    // Time for the answer to leave before the one who gives it is closed.
    onReplaced: () => setTimeout(resign, ANSWER_FIRST_MS),
  })

const lostCall = (method: string, wasSent: boolean): EngineError =>
  wasSent
    ? engineError(
        'leader_lost',
        `The tab that runs the engine went away before it answered "${method}". It may have been done: look before you try again.`,
      )
    : engineError('leader_lost', `No tab runs the engine at the moment, so "${method}" was not done. Try again.`)

/** The leader speaks of itself; what this tab is, only this tab knows. */
const withOwnRole = (api: EngineApi, role: () => EngineInfo['role']): EngineApi =>
  new Proxy(api, {
    get: (target, method) => {
      if (method !== 'engineInfo') return target[method as keyof EngineApi]
      return async (): Promise<Result<EngineInfo>> => {
        const info = await target.engineInfo()
        return info.ok ? { ok: true, value: { ...info.value, role: role() } } : info
      }
    },
  })
