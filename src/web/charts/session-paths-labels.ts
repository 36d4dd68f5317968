import { formatNumber, formatPercent } from '../components/format.ts'
import { messages } from '../messages.ts'
import type { FlowNode } from './session-paths-layout.ts'

/** Name of a node: its path, "3 other pages" or "left the site". */
export function nodeName({ kind, path, count }: FlowNode): string {
  if (kind === 'left') return messages.charts.leftSite
  return path ?? messages.charts.otherPages(count)
}

/** Formats a number of sessions as a percentage of all sessions. */
export const shareOf = (sessions: number, all: number) => formatPercent(all === 0 ? 0 : sessions / all)

/** Screen reader text for a node. */
export const nodeLabel = (node: FlowNode, all: number): string =>
  messages.charts.node(nodeName(node), node.step + 1, formatNumber(node.sessions), shareOf(node.sessions, all))
