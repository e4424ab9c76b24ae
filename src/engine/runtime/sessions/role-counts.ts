import type { SessionAgent } from '../../model/session.ts'
import { agentStates } from '../../model/session.ts'
import type { RoleStats } from '../../model/session-status.ts'

/** Role → how many agents it has in each state. Counted once, then moved along with each agent: there may be hundreds. */
export type RoleCounts = Map<string, RoleStats>

type Counted = Pick<SessionAgent, 'role' | 'state'>

export const countRoles = (agents: readonly Counted[]): RoleCounts => {
  const counts: RoleCounts = new Map()
  for (const { role, state } of agents) {
    const stats = counts.get(role) ?? emptyStats()
    stats.total += 1
    stats[state] += 1
    counts.set(role, stats)
  }
  return counts
}

/** What was given out before stays as it is. */
export const moveCounted = (counts: RoleCounts, before: Counted, after: Counted): void => {
  const stats = { ...(counts.get(after.role) ?? emptyStats()) }
  stats[before.state] -= 1
  stats[after.state] += 1
  counts.set(after.role, stats)
}

const emptyStats = (): RoleStats => Object.fromEntries(['total', ...agentStates].map((name) => [name, 0])) as RoleStats
