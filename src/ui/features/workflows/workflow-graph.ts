import type { HandlerGlance, TopicGlance, WorkflowDetail } from '#worker/api.ts'
import type { DagEdge, DagNode } from '../../kit/dag-layout.ts'

export type GraphItem = { kind: 'handler'; handler: HandlerGlance } | { kind: 'topic'; topic: TopicGlance }

export interface WorkflowGraph {
  nodes: DagNode[]
  edges: DagEdge[]
  items: Map<string, GraphItem>
}

const HANDLER = { width: 172, height: 56 }
const TOPIC = { width: 150, height: 40 }

const handlerId = (name: string): string => `handler ${name}`
const topicId = (name: string): string => `topic ${name}`
const isActive = (handler: HandlerGlance): boolean => handler.lastAttempt?.status === 'active'

/** Producers, topics and consumers, and who gives to whom. */
export function workflowGraph({ config, handlers, topics }: WorkflowDetail): WorkflowGraph {
  const items = new Map<string, GraphItem>()
  for (const handler of handlers) items.set(handlerId(handler.name), { kind: 'handler', handler })
  for (const topic of topics) {
    if (config.topics.includes(topic.name) || topic.pending > 0)
      items.set(topicId(topic.name), { kind: 'topic', topic })
  }
  const active = new Set(handlers.filter(isActive).map(({ name }) => name))
  const publishes = [...Object.entries(config.producers), ...Object.entries(config.consumers)].flatMap(
    ([name, { publishes: names }]) =>
      names.map((topic) => ({ from: handlerId(name), to: topicId(topic), isLive: active.has(name) })),
  )
  const takes = Object.entries(config.consumers).flatMap(([name, { subscribe }]) =>
    subscribe.map((topic) => ({ from: topicId(topic), to: handlerId(name), isLive: active.has(name) })),
  )
  const nodes = [...items].map(([id, { kind }]) => ({ id, ...(kind === 'handler' ? HANDLER : TOPIC) }))
  return { nodes, edges: [...publishes, ...takes], items }
}
