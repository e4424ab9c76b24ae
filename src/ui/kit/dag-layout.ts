import { Graph, layout } from '@dagrejs/dagre'

export interface DagNode {
  id: string
  width: number
  height: number
}

export interface DagEdge {
  from: string
  to: string
  /** Something moves along it now. */
  isLive?: boolean
}

export interface PlacedNode extends DagNode {
  x: number
  y: number
}

export interface PlacedEdge extends DagEdge {
  /** An SVG path. */
  path: string
}

export interface Placed {
  width: number
  height: number
  nodes: PlacedNode[]
  edges: PlacedEdge[]
}

interface Point {
  x: number
  y: number
}

/** Layer by layer, along the arrows, and in this order for who walks over them by keys; circles are allowed. */
export function placeDag(nodes: readonly DagNode[], edges: readonly DagEdge[], direction: 'LR' | 'TB'): Placed {
  const graph = new Graph()
  graph.setGraph({ rankdir: direction, nodesep: 20, ranksep: direction === 'LR' ? 40 : 36, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height })
  const known = new Set(nodes.map(({ id }) => id))
  const joined = edges.filter(({ from, to }) => known.has(from) && known.has(to))
  for (const { from, to } of joined) graph.setEdge(from, to)
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    width,
    height,
    nodes: nodes
      .map((node) => ({ node, at: graph.node(node.id) as Point }))
      .toSorted((a, b) => alongFirst(direction, a.at, b.at))
      .map(({ node, at }) => ({ ...node, x: at.x - node.width / 2, y: at.y - node.height / 2 })),
    edges: joined.map((edge) => ({
      ...edge,
      path: smoothPath((graph.edge(edge.from, edge.to) as { points: Point[] }).points, direction),
    })),
  }
}

const alongFirst = (direction: 'LR' | 'TB', a: Point, b: Point): number =>
  direction === 'LR' ? a.x - b.x || a.y - b.y : a.y - b.y || a.x - b.x

/** Leaves and enters along the direction of the graph. */
function smoothPath(points: readonly Point[], direction: 'LR' | 'TB'): string {
  const [first, ...rest] = points
  if (!first) return ''
  let at = first
  const curves = rest.map((to) => {
    const middle = direction === 'LR' ? (at.x + to.x) / 2 : (at.y + to.y) / 2
    const [a, b] =
      direction === 'LR' ? [`${middle} ${at.y}`, `${middle} ${to.y}`] : [`${at.x} ${middle}`, `${to.x} ${middle}`]
    at = to
    return `C${a}, ${b}, ${to.x} ${to.y}`
  })
  return `M${first.x} ${first.y}${curves.join('')}`
}
