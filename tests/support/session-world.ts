import type { SessionAgent } from '#engine/model/session.ts'
import type { AgentRequest, SessionRequest } from '#engine/model/session-request.ts'
import type { SessionStatus } from '#engine/model/session-status.ts'
import type { EngineOptions } from '#engine/runtime/ports.ts'
import { sessionOf } from './agents.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'

export interface SessionWorld extends TestEngine {
  create(agents: AgentRequest[], more?: Partial<SessionRequest>): Promise<string>
  /** Creates, starts, and waits until nothing can run without time moving or somebody acting. */
  run(agents: AgentRequest[], more?: Partial<SessionRequest>): Promise<string>
  status(id: string): SessionStatus
  /** Key → state. */
  states(id: string): Record<string, string>
  agentOf(id: string, key: string): SessionAgent
  /** `started a`, `completed a`, …, from the audit trail. */
  story(id: string): string[]
}

export const openSessionWorld = async (options: Partial<EngineOptions> = {}): Promise<SessionWorld> => {
  const world = (await openTestEngine(options)) as SessionWorld
  world.create = async (agents, more) => {
    const created = await world.engine.createSession(sessionOf(agents, more))
    if (!created.ok) throw new Error(`${created.error.message} ${JSON.stringify(created.error.details)}`)
    return created.value.sessionId
  }
  world.run = async (agents, more) => {
    const id = await world.create(agents, more)
    const started = await world.engine.startSession(id)
    if (!started.ok) throw new Error(started.error.message)
    await world.settle()
    return id
  }
  world.status = (id) => {
    const status = world.engine.getSessionStatus(id)
    if (!status.ok) throw new Error(status.error.message)
    return status.value
  }
  world.states = (id) => Object.fromEntries(world.status(id).agents.map(({ key, state }) => [key, state]))
  world.agentOf = (id, key) => {
    const found = world.status(id).agents.find((agent) => agent.key === key)
    if (found === undefined) throw new Error(`There is no agent ${key}.`)
    return found
  }
  world.story = (id) =>
    world
      .rows(
        `SELECT e.event_type AS type, coalesce(a."key", 'session') AS agent FROM session_events e
         LEFT JOIN session_agents a ON a.agent_id = e.agent_id WHERE e.session_id = ? ORDER BY e.id`,
        id,
      )
      .map(({ type, agent }) => `${String(type).replace(/^(agent|session)_/, '')} ${String(agent)}`)
  return world
}
