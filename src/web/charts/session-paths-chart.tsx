import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { Data } from '../components/data-text.tsx'
import { formatNumber } from '../components/format.ts'
import { messages } from '../messages.ts'
import { DATA } from './axes.tsx'
import { ChartFrame, type ChartProps, type ChartTable } from './chart-frame.tsx'
import classes from './session-paths.module.css'
import { FlowColumns } from './session-paths-columns.tsx'
import { nodeLabel, nodeName, shareOf } from './session-paths-labels.ts'
import {
  allSessions,
  type FlowGraph,
  type FlowNode,
  type Flows,
  flowGraph,
  layOutFlow,
  neighbour,
  type PlacedNode,
  shortPath,
} from './session-paths-layout.ts'

/** Below this width, ranked columns are shown. */
const NARROW_PX = 720
const HEIGHT_PX = 360
const TWO_LINES_PX = 30
/** Width reserved for labels. */
const LABEL_PX = 220
/** Width of a node plus the gap between the node and its label. */
const AWAY_PX = 28
/** Width reserved for the numbers after a name. */
const FIGURES_PX = 84

interface FlowProps extends ChartProps {
  flows: Flows
  /** Shown above the chart: number of sessions and period. */
  caption: string
  /** The selected page; null for none. */
  chosen: { step: number; path: string } | null
  /** Called when a page is clicked. */
  choose(node: { step: number; path: string }): void
}

/** Sankey diagram of session paths with one column per step; ranked lists on narrow screens. */
export function Flow({ flows, caption, chosen, choose, height = HEIGHT_PX, ...chart }: FlowProps) {
  const graph = useMemo(() => flowGraph(flows), [flows])
  const all = allSessions(flows)
  const chosenId = chosen && `${chosen.step} page ${chosen.path}`
  const press = ({ step, path }: FlowNode) => path !== null && choose({ step, path })
  return (
    <ChartFrame
      {...chart}
      height={height}
      isHeightFree
      caption={<Data>{caption}</Data>}
      table={() => flowTable(graph, all)}
    >
      {(width) =>
        width < NARROW_PX ? (
          <FlowColumns graph={graph} all={all} chosenId={chosenId} press={press} />
        ) : (
          <Drawing
            graph={graph}
            all={all}
            width={width}
            height={height}
            chosenId={chosenId}
            press={press}
            summary={chart.summary}
          />
        )
      }
    </ChartFrame>
  )
}

interface DrawingProps {
  graph: FlowGraph
  all: number
  width: number
  height: number
  chosenId: string | null
  press(node: FlowNode): void
  summary: string
}

function Drawing({ graph, all, width, height, chosenId, press, summary }: DrawingProps) {
  const placed = useMemo(() => layOutFlow(graph, width - LABEL_PX, height), [graph, width, height])
  const [focused, focus] = useState<string | null>(null)
  const group = useRef<SVGSVGElement>(null)
  const stop = placed.nodes.some(({ id }) => id === focused) ? focused : placed.nodes[0]?.id
  const columns = 1 + Math.max(0, ...placed.nodes.map(({ step }) => step))
  const onKeyDown = (event: KeyboardEvent<SVGGElement>, node: FlowNode) => {
    if (event.key === 'Enter' || event.key === ' ') press(node)
    else {
      const to = neighbour(graph.nodes, node.id, event.key)
      if (to === node.id) return
      group.current?.querySelector<SVGGElement>(`[data-id="${CSS.escape(to)}"]`)?.focus()
    }
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no such element
    <svg ref={group} viewBox={`0 0 ${width} ${height}`} className={classes.drawing} role="group" aria-label={summary}>
      {placed.links.map(({ from, to, path, width: thick }) => (
        <path
          key={`${from} ${to}`}
          d={path}
          strokeWidth={thick}
          className={classes.link}
          data-chosen={(chosenId !== null && (from === chosenId || to === chosenId)) || undefined}
        />
      ))}
      {placed.nodes.map((node) => (
        // biome-ignore lint/a11y/useSemanticElements: SVG has no button
        <g
          key={node.id}
          role="button"
          tabIndex={node.id === stop ? 0 : -1}
          data-id={node.id}
          data-kind={node.kind}
          data-chosen={node.id === chosenId || undefined}
          className={classes.node}
          aria-label={nodeLabel(node, all)}
          aria-pressed={node.kind === 'page' ? node.id === chosenId : undefined}
          aria-disabled={node.kind === 'page' ? undefined : true}
          onFocus={() => focus(node.id)}
          onClick={() => press(node)}
          onKeyDown={(event) => onKeyDown(event, node)}
        >
          <title {...(node.kind === 'page' ? DATA : {})}>{nodeName(node)}</title>
          <rect x={node.x} y={node.y} width={node.width} height={node.height} className={classes.bar} />
        </g>
      ))}
      <g aria-hidden className={classes.labels}>
        {placed.nodes.map((node) => (
          <NodeLabel
            key={node.id}
            node={node}
            all={all}
            roomPx={(width - LABEL_PX) / Math.max(1, columns - 1) - AWAY_PX}
          />
        ))}
      </g>
    </svg>
  )
}

/** Label to the right of a node. */
function NodeLabel({ node, all, roomPx }: { node: PlacedNode; all: number; roomPx: number }) {
  const { x, y, width, height } = node
  const name = nodeName(node)
  const left = x + width + 6
  const middle = y + height / 2
  // Small nodes are close together, so their labels have one line.
  const isLow = height < TWO_LINES_PX
  return (
    <text x={left} y={isLow ? middle + 4 : middle - 2} className={classes.name}>
      <tspan {...(node.kind === 'page' ? DATA : {})}>
        {node.kind === 'page' ? shortPath(name, Math.min(roomPx, LABEL_PX) - (isLow ? FIGURES_PX : 0)) : name}
      </tspan>
      <tspan {...(isLow ? { dx: 8 } : { x: left, dy: 15 })} className={classes.count} {...DATA}>
        {`${formatNumber(node.sessions)} · ${shareOf(node.sessions, all)}`}
      </tspan>
    </text>
  )
}

function flowTable({ nodes }: FlowGraph, all: number): ChartTable {
  return {
    head: [
      { name: messages.charts.step, isNumber: true },
      { name: messages.charts.page },
      { name: messages.charts.sessions, isNumber: true },
      { name: messages.charts.share, isNumber: true },
    ],
    rows: nodes.map((node) => ({
      key: node.id,
      cells: [
        <Data key="step">{node.step + 1}</Data>,
        node.kind === 'page' ? <Data key="page">{node.path}</Data> : nodeName(node),
        <Data key="sessions">{formatNumber(node.sessions)}</Data>,
        <Data key="share">{shareOf(node.sessions, all)}</Data>,
      ],
    })),
  }
}
