import { isFinished } from '../../machine/session-states.ts'
import type { SessionStatus } from '../../model/session-status.ts'
import type { SessionView } from './session-views.ts'

export const describeSession = (view: SessionView, now: number): SessionStatus => {
  const { session, agents, roles, estimator, cost } = view
  const estimate = isFinished(session.state)
    ? { kind: 'no_basis' as const, because: `The session is ${session.state}.` }
    : estimator.estimate(now)
  const isEstimated = estimate.kind === 'estimated'
  return {
    session,
    agents,
    progress: session.agentCount === 0 ? 0 : session.completedAgents / session.agentCount,
    roles,
    estimatedCompletionAt: isEstimated ? estimate.at : null,
    estimateNote: isEstimated ? null : estimate.because,
    cost,
    elapsedMs: session.startedAt === null ? null : Math.max(0, (session.completedAt ?? now) - session.startedAt),
  }
}
