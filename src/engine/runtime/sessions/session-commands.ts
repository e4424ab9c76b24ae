import type { AgentDraft, SessionProblem } from '../../machine/session-checks.ts'
import { checkAgents } from '../../machine/session-checks.ts'
import { isFinished, isUnderWay } from '../../machine/session-states.ts'
import type { EngineError } from '../../model/errors.ts'
import { EngineBug, engineError } from '../../model/errors.ts'
import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import type { Session, SessionAgent } from '../../model/session.ts'
import type { AgentRequest, SessionRequest } from '../../model/session-request.ts'
import type { AgentInPlan, StoreReads } from '../../ports/store.ts'
import { parseId } from '../command-input.ts'
import type { EnginePorts } from '../ports.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Transitions } from '../transitions/index.ts'
import { unknownSession } from '../transitions/sessions.ts'
import { checkScripts } from './check-scripts.ts'
import { parseAgent, parseSession } from './parse-session.ts'

interface SessionCommandParts {
  ports: EnginePorts
  transitions: Transitions
  scheduler: Scheduler
}

/** What a person can tell a session to do. Each is on disk before it is answered, and causes an immediate look for work. */
export const createSessionCommands = ({ ports, transitions, scheduler }: SessionCommandParts) => {
  const { store, sandbox, durability } = ports

  const answer = async <T>(result: Result<T>): Promise<Result<T>> => {
    if (!result.ok) return result
    scheduler.look()
    try {
      await durability.barrier()
    } catch {
      return err(
        engineError('read_only', 'Another tab has taken over meanwhile: nothing was saved. Try it again there.'),
      )
    }
    return result
  }

  const createSession = async (request: SessionRequest): Promise<Result<{ sessionId: string }>> => {
    const { problems, strategy, agents: drafts, ...parsed } = parseSession(request)
    const found = [...problems]
    // A list that could not be read has been complained of already.
    if (drafts.length > 0 || problems.length === 0) found.push(...checkAgents(strategy ?? 'adaptive', drafts))
    const { agents, problems: inScripts } = await checkScripts(sandbox, drafts)
    found.push(...inScripts)
    if (found.length > 0 || strategy === null) return err(invalidSession('The session', found))
    const session = transitions.createSession({ ...parsed, strategy, agents })
    return answer(ok({ sessionId: session.id }))
  }

  const addAgent = async (sessionId: string, request: AgentRequest): Promise<Result<{ agentId: string }>> => {
    const found = findSession(store, sessionId)
    if (!found.ok) return found
    const session = found.value
    const problems: SessionProblem[] = []
    const draft = parseAgent(
      request,
      'The new agent',
      (message, agents = []) => void problems.push({ message, agents }),
    )
    const { agents, problems: inScripts } = await checkScripts(sandbox, [draft])
    // Read after the last await: from here to the transaction nothing can come between.
    const others = store.sessionAgents.planOf(session.id)
    problems.push(...checkAddition(session, others, draft), ...inScripts)
    const [agent] = agents
    if (problems.length > 0 || agent === undefined) return err(invalidSession('The new agent', problems))
    const added = transitions.addAgent(session.id, agent)
    return answer(added.ok ? ok({ agentId: added.value.id }) : added)
  }

  const cloneSession = async (id: string): Promise<Result<{ sessionId: string }>> => {
    const found = findSession(store, id)
    if (!found.ok) return found
    const { objective, strategy, onFailure, maxParallel, metadata } = found.value
    const agents = store.sessionAgents.ofSession(found.value.id).map((agent) => agentToRequest(store, agent))
    return createSession({
      objective,
      strategy,
      onFailure,
      ...(maxParallel === null ? {} : { maxParallel }),
      metadata: { ...metadata, clonedFrom: found.value.id },
      agents,
    })
  }

  const move =
    (change: (id: string) => Result<unknown>) =>
    async (wanted: string): Promise<Result<null>> => {
      const id = parseId('a session', wanted)
      if (!id.ok) return id
      const moved = change(id.value)
      return answer(moved.ok ? ok(null) : moved)
    }

  const retryAgent = async (sessionId: string, agentId: string): Promise<Result<null>> => {
    const session = parseId('a session', sessionId)
    if (!session.ok) return session
    const agent = parseId('an agent', agentId)
    if (!agent.ok) return agent
    const retried = transitions.retryAgent(session.value, agent.value)
    return answer(retried.ok ? ok(null) : retried)
  }

  return {
    createSession,
    addAgent,
    cloneSession,
    startSession: move(transitions.startSession),
    pauseSession: move(transitions.pauseSession),
    resumeSession: move(transitions.resumeSession),
    cancelSession: move(transitions.cancelSession),
    deleteSession: move(transitions.deleteSession),
    retryAgent,
  }
}

export const findSession = (store: StoreReads, wanted: string): Result<Session> => {
  const id = parseId('a session', wanted)
  if (!id.ok) return id
  const session = store.sessions.get(id.value)
  return session === undefined ? err(unknownSession(id.value)) : ok(session)
}

/** The new agent among those that are there already, and in time for the stage it wants to join. */
const checkAddition = (session: Session, others: readonly AgentInPlan[], draft: AgentDraft): SessionProblem[] => {
  if (isFinished(session.state)) return []
  const drafts = others.map(({ key, role, dependencies, stage }) => ({
    key,
    role,
    task: '',
    source: '',
    dependsOn: dependencies,
    stage,
  }))
  const problems = checkAgents(session.strategy, [...drafts, draft])
  const begun = others.flatMap(({ state, stage }) => (isUnderWay(state) || state === 'completed' ? [stage ?? 0] : []))
  const latest = Math.max(-1, ...begun)
  if (session.strategy === 'pipeline' && draft.stage !== null && draft.stage < latest) {
    problems.push({
      message: `The agent "${draft.key}" comes too late for stage ${String(draft.stage)}: stage ${String(latest)} has begun.`,
      agents: [draft.key],
    })
  }
  return problems
}

const agentToRequest = (store: StoreReads, agent: SessionAgent): AgentRequest => {
  const workflow = agent.workflowId === null ? undefined : store.workflows.get(agent.workflowId)
  const scriptId = workflow?.activeScriptId ?? null
  const script = scriptId === null ? undefined : store.scripts.get(scriptId)
  if (script === undefined) throw new EngineBug(`The script of agent ${agent.id} is gone.`)
  const { key, role, task, dependencies, stage } = agent
  return { key, role, task, source: script.source, dependsOn: dependencies, ...(stage === null ? {} : { stage }) }
}

const invalidSession = (what: string, problems: readonly SessionProblem[]): EngineError => {
  const [first] = problems
  const count = problems.length === 1 ? 'one problem' : `${String(problems.length)} problems`
  return engineError(
    'invalid_session',
    `${what} has ${count}, and nothing was created. ${first?.message ?? ''}`,
    problems.map((problem) => ({ ...problem })),
  )
}
