import { Anchor, Table, Text, Title } from '@mantine/core'
import { type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react'
import { messages } from '../messages.ts'
import { useSearchParams } from '../url-state/use-search-params.ts'
import classes from './charts.module.css'
import { SHOW_PARAM } from './show-param.ts'

/** Props of all charts. */
export interface ChartProps {
  /** Accessible name; shown as the heading unless `isTitleHidden`. */
  title: string
  isTitleHidden?: boolean
  /** Summary for screen readers. */
  summary: string
  /** Height of the plot in pixels; default: 240. */
  height?: number
}

export const HEIGHT_PX = 240

interface FrameProps extends ChartProps {
  /** Shown above the chart: unit, scope, time zone. */
  caption: ReactNode
  legend?: ReactNode
  /** The data as a table. If omitted, there is no table view. */
  table?: () => ChartTable
  /** True if the content can be taller than `height`. */
  isHeightFree?: boolean
  /** Renders the plot for a width in pixels. */
  children: (width: number) => ReactNode
}

export interface ChartTable {
  head: readonly { name: string; isNumber?: boolean }[]
  /** The first cell of a row is its header. */
  rows: readonly { key: string | number; cells: readonly ReactNode[] }[]
}

/** Frame of a chart: heading, caption, legend, and a table view (`show=table` in the URL). */
export function ChartFrame({ title, isTitleHidden, summary, height = HEIGHT_PX, ...rest }: FrameProps) {
  const { caption, legend, table, isHeightFree, children } = rest
  const [{ show }, set] = useSearchParams(SHOW_PARAM)
  const [plot, width] = useWidth<HTMLDivElement>()
  const summaryId = useId()
  const isTable = show === 'table' && table !== undefined
  return (
    <figure aria-label={title} aria-describedby={summaryId} className={classes.figure}>
      <figcaption className={classes.head}>
        {!isTitleHidden && <Title order={2}>{title}</Title>}
        <Text fz="xs" c="dimmed" component="span" ml="auto">
          {caption}
        </Text>
      </figcaption>
      <p id={summaryId} className="heard">
        {summary}
      </p>
      {isTable ? (
        <TableView title={title} table={table()} />
      ) : (
        <div ref={plot} className={classes.plot} style={isHeightFree ? { minHeight: height } : { height }}>
          {width > 0 && children(width)}
        </div>
      )}
      <div className={classes.foot}>
        {!isTable && legend}
        {table && (
          <Anchor component="button" type="button" fz="xs" onClick={() => set({ show: isTable ? null : 'table' })}>
            {isTable ? messages.displayNames.showAsChart : messages.displayNames.showAsTable}
          </Anchor>
        )}
      </div>
    </figure>
  )
}

function TableView({ title, table: { head, rows } }: { title: string; table: ChartTable }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is only for form fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={title}>
      <Table aria-label={title} stickyHeader verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {head.map(({ name, isNumber }) => (
              <Table.Th key={name} scope="col" ta={isNumber ? 'end' : undefined}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, cells }) => (
            <Table.Tr key={key}>
              {cells.map((cell, index) => {
                const { name, isNumber } = head[index] ?? { name: String(index) }
                const align = isNumber ? 'end' : undefined
                return index === 0 ? (
                  <Table.Th key={name} scope="row" fw={400} ta={align}>
                    {cell}
                  </Table.Th>
                ) : (
                  <Table.Td key={name} ta={align}>
                    {cell}
                  </Table.Td>
                )
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

/** A legend entry: symbol and label. */
export function LegendItem({ word, children }: { word: string; children: ReactNode }) {
  return (
    <span className={classes.item}>
      <svg width={16} height={12} viewBox="0 0 16 12" aria-hidden>
        {children}
      </svg>
      {word}
    </span>
  )
}

/** Returns the width of an element in pixels; 0 before the first measurement. */
function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current: element } = ref
    if (!element) return
    // An element that is hidden temporarily, for example while printing, keeps its drawing.
    const measure = () => element.clientWidth > 0 && setWidth(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}
