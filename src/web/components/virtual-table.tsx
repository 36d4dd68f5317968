import { Checkbox } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type MouseEvent,
  memo,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { messages } from '../messages.ts'
import { showFullName } from './full-name-tooltip.ts'
import { ErrorNotice } from './query-state.tsx'
import { useRowKeys } from './use-row-keys.ts'
import type { Selection } from './use-selection.ts'
import classes from './virtual-table.module.css'

/** A column of a table. Its words are read while drawing. */
export interface Column<Row> {
  id: string
  /** What stands above; shown to screen readers only when `isHeadHidden`. */
  head: ReactNode
  isHeadHidden?: boolean
  /** What stands in the row. The column with `isLink` is the row's heading, and wraps it into the link. */
  cell(row: Row): ReactNode
  isLink?: boolean
  /** True for what the row is about where no column is a link: on a phone its name takes two lines. */
  isMain?: boolean
  /** A second line under it. */
  below?(row: Row): ReactNode
  /** A CSS width; without one it shares what is left. */
  width?: string
  /** Numbers stand at the end. */
  isFigure?: boolean
  /** Not shown on screens narrower than this: 768 or 1,200 px. */
  hideBelow?: 768 | 1200
  /** On screens narrower than 768 px it has no column, and stands under what the row is about. */
  isUnderMain?: boolean
}

/** A list that is loaded in pages; an infinite query is one. */
export interface PagedQuery {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  error: unknown
  fetchNextPage(): unknown
}

export interface VirtualTableProps<Row> {
  /** The table's name for screen readers. */
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Where `Enter` and a press on the row lead; null for rows that lead nowhere. */
  linkOf?: ((row: Row) => LinkProps) | null
  /** How many rows there are in all, loaded or not; null when nobody knows. */
  total?: number | null
  pages?: PagedQuery | null
  /** With it each row has a checkbox, named by `seriesKey`. */
  selection?: Selection | null
  nameOf?(row: Row): string
  /** What letters do with the selected rows, or with the one that has the focus. */
  acts?: Readonly<Record<string, (rows: readonly Row[]) => void>>
  /** The height of all rows in pixels. */
  rowHeight?: number
  /** The same on screens narrower than 768 px, where names take two lines. */
  narrowRowHeight?: number
}

/** Up to here all rows are in the document, as printing and searching in the page want them. */
const ALL_UP_TO = 100
const OVERSCAN = 12
const NARROW_ROW_PX = 76
/** With what has no column of its own under a name of two lines and its second line. */
const NARROW_ROW_UNDER_PX = 100
/** The next page is asked for when so few rows are left below. */
const AHEAD = 30

/**
 * A table of any length: only rows near the window are in the document. `j`, `k` and the arrows move the focus from row to
 * row, `Enter` opens, `x` selects.
 */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { name, columns, rows, idOf, selection = null, pages = null, total = null } = props
  const { body, range, height, above, below, showRow } = useWindow(props)
  const keys = useRowKeys({ ...props, body, showRow })
  const known = total ?? (pages?.hasNextPage ? null : rows.length)
  const linkOf = props.linkOf ?? null
  return (
    <div className={classes.frame}>
      <table
        className={classes.table}
        style={{ '--row-height': `${height}px` } as CSSProperties}
        aria-label={name}
        aria-rowcount={known === null ? -1 : known + 1}
      >
        <Head columns={columns} rows={rows} idOf={idOf} selection={selection} />
        <tbody ref={body} onFocus={keys.onFocus} onPointerOver={showFullName}>
          <Space height={above} />
          {range.map((index) => {
            const row = rows[index] as Row
            const id = idOf(row)
            return (
              <TableRow
                key={id}
                {...{ row, id, index, columns }}
                link={linkOf}
                name={selection ? (props.nameOf?.(row) ?? id) : null}
                isSelected={selection?.ids.has(id) ?? false}
                select={keys.select}
              />
            )
          })}
          <Space height={below} />
        </tbody>
      </table>
      {pages?.isFetchNextPageError && (
        <ErrorNotice
          refusal={pages.error}
          retry={() => void pages.fetchNextPage()}
          isAsking={pages.isFetchingNextPage}
        />
      )}
    </div>
  )
}

/** Which rows are near the window, and how much room the others take. */
function useWindow<Row>({
  rows,
  columns,
  pages = null,
  rowHeight = 56,
  narrowRowHeight = columns.some(({ isUnderMain }) => isUnderMain) ? NARROW_ROW_UNDER_PX : NARROW_ROW_PX,
}: VirtualTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const height = useRowHeight(rowHeight, narrowRowHeight)
  const top = useTop(body)
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    // What stays on top of the window: header and the table's head.
    scrollPaddingStart: 100,
    scrollPaddingEnd: 80,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are asked for anew when the height changes
  useLayoutEffect(() => virtualizer.measure(), [height])
  const near = virtualizer.getVirtualItems()
  const last = near.at(-1)?.index ?? -1
  const isNearEnd = last >= rows.length - AHEAD
  useEffect(() => {
    if (isNearEnd && pages?.hasNextPage && !pages.isFetchingNextPage && !pages.isFetchNextPageError) {
      void pages.fetchNextPage()
    }
  }, [isNearEnd, pages])
  const isWhole = rows.length <= ALL_UP_TO
  const range = isWhole ? rows.map((_, index) => index) : near.map(({ index }) => index)
  const first = range[0] ?? 0
  return {
    ...{ body, range, height },
    above: first * height,
    below: isWhole ? 0 : (rows.length - 1 - last) * height,
    showRow: (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  }
}

/** How far from the top of the page the element is; asked anew when the page has another height, and not while it scrolls. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setTop(Math.round((element.current?.getBoundingClientRect().top ?? 0) + window.scrollY))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return top
}

const NARROW = window.matchMedia('(max-width: 767px)')

function useRowHeight(wide: number, narrow: number): number {
  const [isNarrow, set] = useState(NARROW.matches)
  useEffect(() => {
    const change = () => set(NARROW.matches)
    NARROW.addEventListener('change', change)
    return () => NARROW.removeEventListener('change', change)
  }, [])
  return isNarrow ? narrow : wide
}

const Space = ({ height }: { height: number }) =>
  height > 0 && (
    <tr aria-hidden className={classes.space}>
      <td style={{ height }} />
    </tr>
  )

interface HeadProps<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  selection: Selection | null
}

function Head<Row>({ columns, rows, idOf, selection }: HeadProps<Row>) {
  const selected = selection?.ids.size ?? 0
  const isAll = selected > 0 && selected === rows.length
  return (
    <thead>
      <tr aria-rowindex={1}>
        {selection && (
          <th scope="col" className={`${classes.column} ${classes.check}`}>
            <Checkbox
              size="xs"
              aria-label={messages.components.selectAll}
              checked={isAll}
              indeterminate={selected > 0 && !isAll}
              onChange={() => (isAll ? selection.clear() : selection.add(rows.map(idOf)))}
            />
          </th>
        )}
        {columns.map(({ id, head, isHeadHidden, width, isFigure, hideBelow, isUnderMain }) => (
          <th
            key={id}
            scope="col"
            className={classes.column}
            style={{ width }}
            data-figure={isFigure || undefined}
            data-hide={isUnderMain ? 768 : hideBelow}
          >
            <span className={isHeadHidden ? 'heard' : undefined}>{head}</span>
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface RowProps<Row> {
  row: Row
  id: string
  index: number
  columns: readonly Column<Row>[]
  link: ((row: Row) => LinkProps) | null
  /** What the checkbox selects, in words; null without one. */
  name: string | null
  isSelected: boolean
  select(id: string, isRange: boolean): void
}

const TableRow = memo(function TableRow<Row>(props: RowProps<Row>) {
  const { row, id, index, columns, link, name, isSelected, select } = props
  const under = columns.filter(({ isUnderMain }) => isUnderMain)
  return (
    <tr
      aria-rowindex={index + 2}
      data-id={id}
      data-selected={isSelected || undefined}
      tabIndex={link ? undefined : -1}
      className={classes.row}
    >
      {name !== null && (
        <td className={classes.check}>
          <Checkbox
            size="xs"
            aria-label={messages.components.select(name)}
            checked={isSelected}
            onClick={(event: MouseEvent) => select(id, event.shiftKey)}
            onChange={() => {}}
          />
        </td>
      )}
      {columns.map((column) => (
        <Cell key={column.id} {...{ column, row, link, under }} />
      ))}
    </tr>
  )
}) as <Row>(props: RowProps<Row>) => ReactNode

interface CellProps<Row> extends Pick<RowProps<Row>, 'row' | 'link'> {
  column: Column<Row>
  /** The columns that stand under what the row is about where the screen is narrow. */
  under: readonly Column<Row>[]
}

function Cell<Row>({ column, row, link, under }: CellProps<Row>) {
  const { cell, below, isLink, isMain, isFigure, hideBelow, isUnderMain } = column
  const content = cell(row)
  const isAbout = isLink || isMain
  const rest = {
    'data-figure': isFigure || undefined,
    'data-main': isAbout || undefined,
    'data-hide': isUnderMain ? 768 : hideBelow,
  }
  const narrow = isAbout && under.length > 0 && (
    <div className={classes.narrow}>
      {under.map((one) => (
        <div key={one.id}>{one.cell(row)}</div>
      ))}
    </div>
  )
  if (!isLink) {
    return (
      <td {...rest}>
        {content}
        {below?.(row)}
        {narrow}
      </td>
    )
  }
  return (
    <th scope="row" {...rest}>
      {link ? (
        <Link {...link(row)} className={classes.link} data-row-link>
          {content}
        </Link>
      ) : (
        content
      )}
      {below?.(row)}
      {narrow}
    </th>
  )
}
