import { formatNumber, formatPercent } from '../components/format.ts'
import { messages } from '../messages.ts'
import type { FlowNode } from './flow-layout.ts'

/** The name of a node: its page, `3 others`, or `left`. */
export function nodeName({ kind, path, count }: FlowNode): string {
  if (kind === 'left') return messages.charts.leftSite
  return path ?? messages.charts.otherPages(count)
}

/** The share of all sessions, in words. */
export const shareOf = (sessions: number, all: number) => formatPercent(all === 0 ? 0 : sessions / all)

/** What is spoken of a node. */
export const nodeLabel = (node: FlowNode, all: number): string =>
  messages.charts.node(nodeName(node), node.step + 1, formatNumber(node.sessions), shareOf(node.sessions, all))
