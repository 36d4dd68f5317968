import { Data } from '../components/data-text.tsx'
import { formatNumber, formatPercent } from '../components/format.ts'
import { messages } from '../messages.ts'
import classes from './session-paths.module.css'
import { nodeName } from './session-paths-labels.ts'
import type { FlowGraph, FlowNode } from './session-paths-layout.ts'

interface FlowColumnsProps {
  graph: FlowGraph
  all: number
  chosenId: string | null
  press(node: FlowNode): void
}

/** Session paths on narrow screens. Each step is a ranked list with bars, and the steps are scrolled sideways. */
export function FlowColumns({ graph: { nodes }, all, chosenId, press }: FlowColumnsProps) {
  const steps = [...new Set(nodes.map(({ step }) => step))]
  return (
    <div className={`scroll ${classes.columns}`}>
      {steps.map((step) => (
        <section key={step} className={classes.column}>
          <h3 className={classes.stepTitle}>{messages.charts.stepTitle(step + 1)}</h3>
          <ol className={classes.ranks}>
            {nodes
              .filter((node) => node.step === step)
              .map((node) => (
                <li key={node.id}>
                  <Rank node={node} all={all} isChosen={node.id === chosenId} press={press} />
                </li>
              ))}
          </ol>
        </section>
      ))}
    </div>
  )
}

interface RankProps {
  node: FlowNode
  all: number
  isChosen: boolean
  press(node: FlowNode): void
}

function Rank({ node, all, isChosen, press }: RankProps) {
  const share = all === 0 ? 0 : node.sessions / all
  const shown = (
    <>
      <span className={classes.rankBar} style={{ width: `${share * 100}%` }} data-kind={node.kind} />
      <span className={classes.rankName}>{node.kind === 'page' ? <Data>{node.path}</Data> : nodeName(node)}</span>
      <span className="figure">
        <Data>{`${formatNumber(node.sessions)} · ${formatPercent(share)}`}</Data>
      </span>
    </>
  )
  if (node.kind !== 'page') return <div className={classes.rank}>{shown}</div>
  return (
    <button type="button" className={classes.rank} aria-pressed={isChosen} onClick={() => press(node)}>
      {shown}
    </button>
  )
}
