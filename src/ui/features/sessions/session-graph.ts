import type { AgentState, SessionStrategy } from '#engine/model/session.ts'
import type { DagEdge, DagNode } from '../../kit/dag-layout.ts'

/** What the graph needs of an agent, of a session that runs or of one that is still being put together. */
export interface GraphAgent {
  key: string
  dependencies: readonly string[]
  stage: number | null
  state?: AgentState
}

const NODE = { width: 168, height: 58 }

/** Who waits for whom. What the strategy implies is drawn like what is written down. */
export function sessionGraph(
  strategy: SessionStrategy,
  agents: readonly GraphAgent[],
): { nodes: DagNode[]; edges: DagEdge[] } {
  const known = new Set(agents.map(({ key }) => key))
  const pairs = new Map<string, DagEdge>()
  const join = (from: GraphAgent | undefined, to: GraphAgent): void => {
    if (from === undefined || from.key === to.key) return
    const isLive = from.state === 'completed' && to.state === 'running'
    pairs.set(`${from.key} ${to.key}`, { from: from.key, to: to.key, ...(isLive ? { isLive } : {}) })
  }
  const byKey = new Map(agents.map((agent) => [agent.key, agent]))
  for (const [index, agent] of agents.entries()) {
    for (const key of agent.dependencies) if (known.has(key)) join(byKey.get(key), agent)
    if (strategy === 'sequential') join(agents[index - 1], agent)
    if (strategy === 'pipeline')
      for (const other of agents) if (other.stage !== null && other.stage + 1 === agent.stage) join(other, agent)
  }
  return { nodes: [...known].map((id) => ({ id, ...NODE })), edges: [...pairs.values()] }
}
