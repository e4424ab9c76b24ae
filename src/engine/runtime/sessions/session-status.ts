import { estimateCompletion } from '../../machine/session-eta.ts'
import { isFinished } from '../../machine/session-states.ts'
import type { SessionAgent } from '../../model/session.ts'
import { agentStates } from '../../model/session.ts'
import type { RoleStats, SessionStatus } from '../../model/session-status.ts'
import type { SessionView } from './session-views.ts'

export const describeSession = ({ session, agents, cost }: SessionView, now: number): SessionStatus => {
  const estimate = isFinished(session.state)
    ? { kind: 'no_basis' as const, because: `The session is ${session.state}.` }
    : estimateCompletion(session, agents, now)
  const isEstimated = estimate.kind === 'estimated'
  return {
    session,
    agents,
    progress: session.agentCount === 0 ? 0 : session.completedAgents / session.agentCount,
    roles: roleDistribution(agents),
    estimatedCompletionAt: isEstimated ? estimate.at : null,
    estimateNote: isEstimated ? null : estimate.because,
    cost,
    elapsedMs: session.startedAt === null ? null : Math.max(0, (session.completedAt ?? now) - session.startedAt),
  }
}

/** The list of agents is replaced whenever one of them changes: until then its count is the same. */
const counted = new WeakMap<readonly SessionAgent[], Record<string, RoleStats>>()

const roleDistribution = (agents: readonly SessionAgent[]): Record<string, RoleStats> => {
  const known = counted.get(agents) ?? countRoles(agents)
  counted.set(agents, known)
  return known
}

const countRoles = (agents: readonly SessionAgent[]): Record<string, RoleStats> => {
  // Roles may be called `constructor`: a record of them must not inherit any.
  const roles = Object.create(null) as Record<string, RoleStats>
  for (const { role, state } of agents) {
    const stats = (roles[role] ??= emptyStats())
    stats.total += 1
    stats[state] += 1
  }
  return { ...roles }
}

const emptyStats = (): RoleStats => Object.fromEntries(['total', ...agentStates].map((name) => [name, 0])) as RoleStats
