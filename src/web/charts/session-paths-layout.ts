import { type SankeyLink, type SankeyNode, sankey, sankeyLinkHorizontal } from 'd3-sankey'

/** Session paths, as returned by `GET /v1/journeys/flows`. */
export interface Flows {
  sessionsSampled: number
  /** Null or absent unless one in `oneIn` sessions was read; the other numbers are then estimates for all sessions. */
  sampling?: { oneIn: number } | null
  steps: readonly { index: number; nodes: readonly { path: string; sessions: number }[] }[]
  links: readonly { fromStep: number; fromPath: string; toPath: string; sessions: number }[]
}

/** Number of sessions, estimated if sessions were sampled. */
export const allSessions = ({ sessionsSampled, sampling }: Flows): number => sessionsSampled * (sampling?.oneIn ?? 1)

export interface FlowNode {
  /** Unique within the flow. */
  id: string
  step: number
  /** `others`: merged pages with fewer sessions. `left`: sessions that ended. */
  kind: 'page' | 'others' | 'left'
  /** Path of a page; null for other kinds. */
  path: string | null
  /** Number of merged pages; null if unknown. */
  count: number | null
  sessions: number
}

interface FlowLink {
  from: string
  to: string
  sessions: number
}

export interface FlowGraph {
  nodes: FlowNode[]
  links: FlowLink[]
}

/** Name that the server gives to merged pages. */
const OTHER = '(other)'
const KINDS = ['page', 'others', 'left'] as const

/**
 * Builds the graph. Each step has at most `perStep` pages, a node for all other pages, and a node for sessions that
 * ended.
 */
export function flowGraph({ steps, links }: Flows, perStep = 5): FlowGraph {
  const nodes = new Map<string, FlowNode>()
  const idOf = new Map<string, string>()
  for (const { index, nodes: pages } of steps) {
    const named = pages.filter(({ path }) => path !== OTHER).sort((a, b) => b.sessions - a.sessions)
    for (const { path, sessions } of named.slice(0, perStep)) {
      const id = `${index} page ${path}`
      idOf.set(`${index} ${path}`, id)
      nodes.set(id, { id, step: index, kind: 'page', path, count: 1, sessions })
    }
    const rest = pages.filter(({ path }) => !idOf.has(`${index} ${path}`))
    if (rest.length === 0) continue
    const id = `${index} others`
    for (const { path } of rest) idOf.set(`${index} ${path}`, id)
    const count = rest.some(({ path }) => path === OTHER) ? null : rest.length
    const sessions = rest.reduce((sum, page) => sum + page.sessions, 0)
    nodes.set(id, { id, step: index, kind: 'others', path: null, count, sessions })
  }
  const merged = new Map<string, FlowLink>()
  for (const { fromStep, fromPath, toPath, sessions } of links) {
    const from = idOf.get(`${fromStep} ${fromPath}`)
    const to = idOf.get(`${fromStep + 1} ${toPath}`)
    if (from === undefined || to === undefined || sessions <= 0) continue
    const link = merged.get(`${from} → ${to}`) ?? { from, to, sessions: 0 }
    merged.set(`${from} → ${to}`, { ...link, sessions: link.sessions + sessions })
  }
  const lastStep = Math.max(-1, ...steps.map(({ index }) => index))
  return withLeft([...nodes.values()], [...merged.values()], lastStep)
}

/** Adds nodes for sessions that ended. How many sessions ended at the last step is unknown. */
function withLeft(nodes: readonly FlowNode[], links: readonly FlowLink[], lastStep: number): FlowGraph {
  const left = new Map<number, FlowNode>()
  const ends: FlowLink[] = []
  for (const { id, step, sessions } of nodes) {
    if (step >= lastStep) continue
    const gone = sessions - links.filter(({ from }) => from === id).reduce((sum, link) => sum + link.sessions, 0)
    if (gone <= 0) continue
    const end = left.get(step + 1) ?? {
      id: `${step + 1} left`,
      step: step + 1,
      kind: 'left',
      path: null,
      count: null,
      sessions: 0,
    }
    left.set(step + 1, { ...end, kind: 'left', sessions: end.sessions + gone })
    ends.push({ from: id, to: end.id, sessions: gone })
  }
  const ranked = [...nodes, ...left.values()].sort(
    (a, b) => a.step - b.step || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || b.sessions - a.sessions,
  )
  return { nodes: ranked, links: [...links, ...ends] }
}

export interface PlacedNode extends FlowNode {
  x: number
  y: number
  width: number
  height: number
}

export interface PlacedLink extends FlowLink {
  path: string
  width: number
}

const NODE_PX = 12
const NODE_GAP_PX = 20

/** Computes the layout: one column per step, in the order of `nodes`. */
export function layOutFlow({ nodes, links }: FlowGraph, width: number, height: number) {
  if (nodes.length === 0) return { nodes: [] as PlacedNode[], links: [] as PlacedLink[] }
  const order = new Map(nodes.map(({ id }, index) => [id, index]))
  type Node = SankeyNode<FlowNode, { value: number }>
  const layout = sankey<FlowNode, { value: number }>()
    .nodeId(({ id }) => id)
    .nodeAlign(({ step }) => step)
    .nodeSort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
    .nodeWidth(NODE_PX)
    .nodePadding(NODE_GAP_PX)
    .extent([
      [1, 8],
      [Math.max(2 * NODE_PX, width - 1), height - 16],
    ])
  const graph = layout({
    nodes: nodes.map((node) => ({ ...node, fixedValue: node.sessions })),
    links: links.map(({ from, to, sessions }) => ({ source: from, target: to, value: sessions })),
  })
  const path = sankeyLinkHorizontal<FlowNode, { value: number }>()
  const idOf = (end: SankeyLink<FlowNode, { value: number }>['source']) => (end as Node).id
  return {
    nodes: graph.nodes.map(
      ({ x0 = 0, y0 = 0, y1 = 0, id, step, kind, path, count, sessions }): PlacedNode => ({
        id,
        step,
        kind,
        path,
        count,
        sessions,
        // With a single column, the computed distance between columns is not finite.
        x: Number.isFinite(x0) ? x0 : 1,
        y: y0,
        width: NODE_PX,
        height: Math.max(1, y1 - y0),
      }),
    ),
    links: graph.links.map(
      (link): PlacedLink => ({
        from: idOf(link.source),
        to: idOf(link.target),
        sessions: link.value,
        path: path(link) ?? '',
        width: Math.max(1, link.width ?? 0),
      }),
    ),
  }
}

const PX_A_LETTER = 6.6
const LETTERS_MIN = 6

/** Shortens a path to a width in pixels. Keeps the start and end of the path, which distinguish pages. */
export function shortPath(path: string, widthPx: number): string {
  const letters = Math.max(LETTERS_MIN, Math.floor(widthPx / PX_A_LETTER))
  if (path.length <= letters) return path
  const head = Math.ceil((letters - 1) / 2)
  return `${path.slice(0, head)}…${path.slice(path.length - (letters - 1 - head))}`
}

/**
 * Returns the id of the node that an arrow key moves to: up and down within a step, left and right to the same rank in
 * the adjacent step.
 */
export function neighbour(nodes: readonly FlowNode[], id: string, key: string): string {
  const node = nodes.find((each) => each.id === id)
  if (!node) return nodes[0]?.id ?? id
  const column = (step: number) => nodes.filter((each) => each.step === step)
  const rank = column(node.step).indexOf(node)
  const to = (step: number, place: number) => {
    const places = column(step)
    return places[Math.max(0, Math.min(places.length - 1, place))]?.id ?? id
  }
  switch (key) {
    case 'ArrowUp':
      return to(node.step, rank - 1)
    case 'ArrowDown':
      return to(node.step, rank + 1)
    case 'ArrowLeft':
      return to(node.step - 1, rank)
    case 'ArrowRight':
      return to(node.step + 1, rank)
    case 'Home':
      return nodes[0]?.id ?? id
    case 'End':
      return nodes.at(-1)?.id ?? id
    default:
      return id
  }
}
