import { placeDag } from '#ui/kit/dag-layout.ts'
import { workflowGraph } from '#ui/features/workflows/workflow-graph.ts'
import type { WorkflowDetail } from '#worker/api.ts'
import { describe, expect, it } from 'vitest'

const handler = (
  name: string,
  type: 'producer' | 'consumer',
  isActive = false,
): WorkflowDetail['handlers'][number] => ({
  name,
  type,
  state: null,
  wakeAt: null,
  lastAttempt: isActive
    ? { id: 'hr', scriptRunId: 'run', status: 'active', phase: 'preparing', startTimestamp: 0, endTimestamp: null }
    : null,
})
const topic = (name: string, pending = 0) => ({ name, pending, reserved: 0, oldestPendingAt: null })

const detail = {
  config: {
    name: 'x',
    permissions: [],
    topics: ['mail', 'row'],
    producers: { poll: { schedule: { interval: '5m' }, publishes: ['mail'] } },
    consumers: { carry: { subscribe: ['mail'], publishes: ['row'], hasMutate: true, hasNext: true } },
  },
  handlers: [handler('poll', 'producer'), handler('carry', 'consumer', true)],
  topics: [topic('mail'), topic('row'), topic('left over', 2), topic('long gone')],
} as unknown as WorkflowDetail

describe('the graph of a workflow', () => {
  it('joins producers, topics and consumers, and is live around what is running', () => {
    const { edges, items } = workflowGraph(detail)
    expect(edges).toEqual([
      { from: 'handler poll', to: 'topic mail', isLive: false },
      { from: 'handler carry', to: 'topic row', isLive: true },
      { from: 'topic mail', to: 'handler carry', isLive: true },
    ])
    expect([...items.keys()]).toContain('topic left over')
    expect([...items.keys()]).not.toContain('topic long gone')
  })

  it('is placed from left to right along its arrows, without overlap', () => {
    const { nodes, edges } = workflowGraph(detail)
    const placed = placeDag(nodes, edges, 'LR')
    const x = new Map(placed.nodes.map((node) => [node.id, node.x]))
    const order = ['handler poll', 'topic mail', 'handler carry', 'topic row'].map((id) => x.get(id) ?? -1)
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(placed.edges.every(({ path }) => path.startsWith('M'))).toBe(true)
  })

  it('may go round in a circle', () => {
    const nodes = ['a', 'b'].map((id) => ({ id, width: 10, height: 10 }))
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
      { from: 'a', to: 'nowhere' },
    ]
    expect(placeDag(nodes, edges, 'TB').edges).toHaveLength(2)
  })
})
