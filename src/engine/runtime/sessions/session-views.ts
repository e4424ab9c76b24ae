import { createEstimator, type Estimator } from '../../machine/session-eta.ts'
import { EngineBug } from '../../model/errors.ts'
import type { Session, SessionAgent } from '../../model/session.ts'
import type { RoleStats } from '../../model/session-status.ts'
import type { StoreReads } from '../../ports/store.ts'
import { countRoles, moveCounted, type RoleCounts } from './role-counts.ts'

export interface SessionView {
  session: Session
  /** In the order of their positions. */
  agents: readonly SessionAgent[]
  roles: Record<string, RoleStats>
  estimator: Estimator
  /** Integer micro-units. */
  cost: number
}

/**
 * Sessions somebody is looking at, kept in memory and brought up to date by what changed: a look at a session of 500 agents reads
 * the one agent that moved, not all of them.
 */
export interface SessionViews {
  get(sessionId: string): SessionView | undefined
  changed(sessionId: string, agentId: string | null): void
  costChanged(workflowId: string): void
}

const keptViews = 20

interface Kept {
  view: SessionView
  roleCounts: RoleCounts
  positions: Map<string, number>
  changedAgents: Set<string>
  isSessionChanged: boolean
  isCostChanged: boolean
}

export const createSessionViews = (store: StoreReads): SessionViews => {
  const kept = new Map<string, Kept>()
  const sessionOfWorkflow = new Map<string, string>()

  const read = (session: Session): Kept => {
    const agents = store.sessionAgents.ofSession(session.id)
    for (const { workflowId } of agents) if (workflowId !== null) sessionOfWorkflow.set(workflowId, session.id)
    const roleCounts = countRoles(agents)
    const roles = Object.fromEntries(roleCounts)
    const estimator = createEstimator(session, agents)
    return {
      view: { session, agents, roles, estimator, cost: store.sessions.costOf(session.id) },
      roleCounts,
      positions: new Map(agents.map(({ id }, index) => [id, index])),
      changedAgents: new Set(),
      isSessionChanged: false,
      isCostChanged: false,
    }
  }

  const forget = (sessionId: string): void => {
    for (const { workflowId } of kept.get(sessionId)?.view.agents ?? []) {
      if (workflowId !== null) sessionOfWorkflow.delete(workflowId)
    }
    kept.delete(sessionId)
  }

  const refresh = (known: Kept, session: Session): SessionView => {
    let { agents, roles, cost } = known.view
    if (known.changedAgents.size > 0) {
      const renewed = [...agents]
      for (const id of known.changedAgents) {
        const agent = store.sessionAgents.get(id)
        const position = known.positions.get(id)
        const before = position === undefined ? undefined : renewed[position]
        if (agent === undefined || position === undefined || before === undefined) {
          throw new EngineBug(`Agent ${id} is not where it was.`)
        }
        renewed[position] = agent
        moveCounted(known.roleCounts, before, agent)
        known.view.estimator.moved(agent)
      }
      agents = renewed
      roles = Object.fromEntries(known.roleCounts)
    }
    if (known.isCostChanged) cost = store.sessions.costOf(session.id)
    known.view = { ...known.view, session, agents, roles, cost }
    known.changedAgents.clear()
    known.isSessionChanged = false
    known.isCostChanged = false
    return known.view
  }

  return {
    get: (sessionId) => {
      const known = kept.get(sessionId)
      const isFresh = known?.changedAgents.size === 0 && !known.isSessionChanged && !known.isCostChanged
      if (known !== undefined && isFresh) return known.view
      const session = store.sessions.get(sessionId)
      const isGrown = known !== undefined && known.view.agents.length !== session?.agentCount
      if (session === undefined || isGrown) forget(sessionId)
      if (session === undefined) return undefined
      if (known !== undefined && !isGrown) return refresh(known, session)
      const fresh = read(session)
      kept.set(sessionId, fresh)
      const oldest = kept.keys().next()
      if (kept.size > keptViews && oldest.done !== true) forget(oldest.value)
      return fresh.view
    },
    changed: (sessionId, agentId) => {
      const known = kept.get(sessionId)
      if (known === undefined) return
      // The counters of the session move with its agents.
      known.isSessionChanged = true
      if (agentId !== null) known.changedAgents.add(agentId)
    },
    costChanged: (workflowId) => {
      const known = kept.get(sessionOfWorkflow.get(workflowId) ?? '')
      if (known !== undefined) known.isCostChanged = true
    },
  }
}
