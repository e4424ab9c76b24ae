import type { AgentDraft, SessionProblem } from '../../machine/session-checks.ts'
import type { Result } from '../../model/result.ts'
import type { Sandbox, ScriptProblem } from '../../ports/sandbox.ts'
import type { ValidScript } from '../../script/validate.ts'
import { validateScript } from '../../script/validate.ts'
import type { CheckedAgent } from '../transitions/sessions.ts'

/** Many agents often share one script: each text is validated once. */
export const checkScripts = async (
  sandbox: Sandbox,
  agents: readonly AgentDraft[],
): Promise<{ agents: CheckedAgent[]; problems: SessionProblem[] }> => {
  const bySource = new Map<string, Result<ValidScript, ScriptProblem[]>>()
  const checked: CheckedAgent[] = []
  const problems: SessionProblem[] = []
  for (const agent of agents) {
    // That there is none has been said already.
    if (agent.source.trim() === '') continue
    const known = bySource.get(agent.source) ?? (await validateScript(sandbox, agent.source))
    bySource.set(agent.source, known)
    if (known.ok) checked.push({ ...agent, config: known.value.config })
    else problems.push(...known.error.filter(({ severity }) => severity === 'error').map(toProblem(agent.key)))
  }
  return { agents: checked, problems }
}

const toProblem =
  (key: string) =>
  ({ message, line, column }: ScriptProblem): SessionProblem => ({
    message: `The script of the agent "${key}", line ${String(line)}: ${message}`,
    agents: [key],
    line,
    column,
  })
