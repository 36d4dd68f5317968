import { Checkbox } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type ComponentProps,
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
import { Help } from './help-tooltip.tsx'
import { ErrorNotice } from './query-state.tsx'
import { directionOf, SortButton, type Sorting, type SortOption, SortSelect } from './sort-button.tsx'
import { useIsNarrow } from './use-is-narrow.ts'
import { useRowKeys } from './use-row-keyboard-navigation.ts'
import type { Selection } from './use-selection.ts'
import classes from './virtual-table.module.css'

/** A column of a virtual table. */
export interface Column<Row> {
  id: string
  /** Heading; only for screen readers if `isHeadHidden`. */
  head: ReactNode
  isHeadHidden?: boolean
  /** Plain heading for the menu of columns; default: `head`. */
  name?: string
  /** True if the column is shown only when it is chosen in the menu of columns. */
  isOptional?: boolean
  /** Explains the heading. */
  help?: ComponentProps<typeof Help>['term']
  /** Renders the cell. A cell with `isLink` is the row header and contains the link. */
  cell(row: Row): ReactNode
  isLink?: boolean
  /** Marks the main cell if no column is a link. The main cell has two lines on a phone. */
  isMain?: boolean
  /** Second line of the cell. */
  below?(row: Row): ReactNode
  /** CSS width; columns without one share the remaining width. */
  width?: string
  /** Right-aligns numbers. */
  isFigure?: boolean
  /** Field of `sort` by which the list can be sorted. */
  sort?: string
  /** True if the first click sorts from the highest, such as for times. Default: `isFigure`. */
  isHighestFirst?: boolean
  /** Hides the column below this width in pixels. */
  hideBelow?: 768 | 1200
  /** Shows the column under the main cell below 768 px, figures with their heading. */
  isUnderMain?: boolean
}

/** The part of an infinite query that lists use. */
export interface PagedQuery {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  error: unknown
  fetchNextPage(): unknown
}

export interface VirtualTableProps<Row> {
  /** Accessible name. */
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Link of a row; null if rows are not links. */
  linkOf?: ((row: Row) => LinkProps) | null
  /** Total number of rows; null if unknown. */
  total?: number | null
  pages?: PagedQuery | null
  /** Adds a checkbox to each row, labelled by `nameOf`. */
  selection?: Selection | null
  nameOf?(row: Row): string
  /** Actions by key, applied to the selected rows or the focused one. */
  acts?: Readonly<Record<string, (rows: readonly Row[]) => void>>
  /** The order of the list; null if it can't be changed. */
  sorting?: Sorting | null
  /** Columns by which the list can be sorted on a phone, including hidden ones. Default: `columns`. */
  sortColumns?: readonly Column<Row>[]
  /** Row height in pixels. */
  rowHeight?: number
  /** Row height below 768 px, where names have two lines. */
  narrowRowHeight?: number
  /** True if rows grow with their text, so that it is never cut off. The row height is then a minimum. */
  isGrowing?: boolean
}

/** Lists up to this length are rendered completely, so that they can be printed and searched in the browser. */
const ALL_UP_TO = 100
const OVERSCAN = 12
const NARROW_ROW_PX = 76
/** Row height with additional cells below the main one. */
const NARROW_ROW_UNDER_PX = 84
/** The next page is loaded when fewer than this many rows remain below. */
const AHEAD = 30

/**
 * A table of any length that renders only the rows near the viewport. `j`, `k` and the arrow keys move the focus,
 * `Enter` opens a row, and `x` selects it.
 */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { name, columns, rows, idOf, selection = null, pages = null, total = null, isGrowing = false } = props
  const { sorting = null, sortColumns = columns } = props
  const isNarrow = useIsNarrow()
  const { body, range, height, above, below, showRow } = useWindow(props)
  const keys = useRowKeys({ ...props, body, showRow })
  const known = total ?? (pages?.hasNextPage ? null : rows.length)
  const linkOf = props.linkOf ?? null
  const table = (
    <div className={classes.frame}>
      <table
        className={classes.table}
        style={{ '--row-height': `${height}px` } as CSSProperties}
        aria-label={name}
        aria-rowcount={known === null ? -1 : known + 1}
        data-growing={isGrowing || undefined}
      >
        <Head columns={columns} rows={rows} idOf={idOf} selection={selection} sorting={isNarrow ? null : sorting} />
        <tbody ref={body} onFocus={keys.onFocus} onPointerOver={showFullName}>
          <Space height={above} />
          {range.map((index) => {
            const row = rows[index] as Row
            const id = idOf(row)
            return (
              <TableRow
                key={id}
                row={row}
                id={id}
                index={index}
                columns={columns}
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
  if (!sorting || !isNarrow || rows.length < 2) return table
  return (
    <>
      <SortSelect options={sortOptions(sortColumns)} sorting={sorting} />
      {table}
    </>
  )
}

const sortOptions = <Row,>(columns: readonly Column<Row>[]): SortOption[] =>
  columns.flatMap(({ sort, name, head, isFigure, isHighestFirst }) =>
    sort === undefined ? [] : [{ field: sort, label: name ?? String(head), isFigure: isFigure || isHighestFirst }],
  )

/** Returns the range of rows near the viewport, and the heights of the space above and below them. */
function useWindow<Row>({
  rows,
  columns,
  pages = null,
  rowHeight = 56,
  narrowRowHeight = columns.some(({ isUnderMain }) => isUnderMain) ? NARROW_ROW_UNDER_PX : NARROW_ROW_PX,
}: VirtualTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const height = useIsNarrow() ? narrowRowHeight : rowHeight
  const top = useTop(body)
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    // Height of the sticky header and table head.
    scrollPaddingStart: 100,
    scrollPaddingEnd: 80,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when the height changes
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
    body,
    range,
    height,
    above: first * height,
    below: isWhole ? 0 : (rows.length - 1 - last) * height,
    showRow: (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  }
}

/** Returns the distance of the element from the top of the page; measured when the page's height changes. */
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
  sorting: Sorting | null
}

function Head<Row>({ columns, rows, idOf, selection, sorting }: HeadProps<Row>) {
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
        {columns.map(
          ({ id, head, help, isHeadHidden, width, isFigure, isHighestFirst, hideBelow, isUnderMain, sort }) => (
            <th
              key={id}
              scope="col"
              className={classes.column}
              style={{ width }}
              data-figure={isFigure || undefined}
              data-hide={isUnderMain ? 768 : hideBelow}
              aria-sort={sort && sorting ? directionOf(sort, sorting) : undefined}
            >
              {sort && sorting ? (
                <SortButton field={sort} sorting={sorting} isFigure={isFigure || isHighestFirst}>
                  {head}
                </SortButton>
              ) : (
                <span className={isHeadHidden ? 'heard' : undefined}>{head}</span>
              )}
              {help && <Help term={help} isIcon />}
            </th>
          ),
        )}
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
  /** Label of the checkbox; null without one. */
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
        <Cell key={column.id} column={column} row={row} link={link} under={under} />
      ))}
    </tr>
  )
}) as <Row>(props: RowProps<Row>) => ReactNode

interface CellProps<Row> extends Pick<RowProps<Row>, 'row' | 'link'> {
  column: Column<Row>
  /** Columns shown under the main cell on narrow screens. */
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
        <div key={one.id}>
          {one.isFigure && <span className={classes.label}>{one.name ?? one.head} </span>}
          {one.cell(row)}
        </div>
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
