import { checkAgents } from '#engine/machine/session-checks.ts'
import { ok, type Result } from '#engine/model/result.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import { checkScripts } from '#engine/runtime/sessions/check-scripts.ts'
import { parseSession } from '#engine/runtime/sessions/parse-session.ts'
import type { SessionProblemView } from './api.ts'

/** What creating a session would complain of, without creating it. */
export const createSessionCheck =
  (sandbox: Sandbox) =>
  async (request: unknown): Promise<Result<SessionProblemView[]>> => {
    const { problems, strategy, agents } = parseSession(request)
    const inPlan = agents.length > 0 || problems.length === 0 ? checkAgents(strategy ?? 'adaptive', agents) : []
    const { problems: inScripts } = await checkScripts(sandbox, agents)
    return ok([...problems, ...inPlan, ...inScripts].map((problem) => ({ ...problem, agents: [...problem.agents] })))
  }
