import { Table, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Paginated } from './paginated.tsx'
import classes from './simple-table.module.css'
import { directionOf, SortButton, type Sorting, SortSelect } from './sort-button.tsx'
import { useIsNarrow } from './use-is-narrow.ts'
import type { PagedQuery } from './virtual-table.tsx'

/** A column of a simple table. */
export interface SimpleColumn<T> {
  /** Heading; also the React key. */
  head: string
  /** True if the heading is only for screen readers. */
  isHeadHidden?: boolean
  /** Right-aligns the column. */
  isNumber?: boolean
  /** Field of `sort` by which the server sorts the list. */
  sort?: string
  /** Value by which the browser sorts a complete list; null is the lowest. */
  sortBy?(row: T): string | number | null
  /** True if the first click sorts from the highest, such as for times. Default: `isNumber`. */
  isHighestFirst?: boolean
  cell(row: T): ReactNode
}

interface SimpleTableProps<T> {
  name: string
  columns: readonly SimpleColumn<T>[]
  rows: readonly T[]
  keyOf(row: T): string
  /** Set if more rows can be loaded. */
  pages?: PagedQuery | null
  /** Rows per page; default: 100. */
  size?: number
  /** The order of a list that the server sorts. Without it, columns with `sortBy` sort the rows in the browser. */
  sorting?: Sorting | null
}

/** Maximum number of columns on a phone. */
const NARROW = 3

/**
 * A paginated table that scrolls horizontally. The first column is the row header. On a phone, tables with more than
 * three columns show their rows as cards.
 */
export function SimpleTable<T>({ rows, pages, size, sorting = null, ...table }: SimpleTableProps<T>) {
  const [order, setOrder] = useState('')
  const used = sorting ?? { value: order, change: setOrder }
  const isCards = useIsNarrow() && table.columns.length > NARROW
  const options = table.columns.flatMap(({ head, sort, sortBy, isNumber, isHighestFirst }) =>
    sort || sortBy ? [{ field: sort ?? head, label: head, isFigure: isNumber || isHighestFirst }] : [],
  )
  return (
    <Paginated rows={sorted(rows, table.columns, order)} pages={pages ?? null} {...(size && { size })}>
      {(shown) => (
        <>
          {isCards && options.length > 0 && rows.length > 1 && <SortSelect options={options} sorting={used} />}
          <Rows {...table} rows={shown} sorting={used} isCards={isCards} />
        </>
      )}
    </Paginated>
  )
}

/** Returns the rows sorted by the column with the heading `order`; with `-` in descending order. Stable. */
function sorted<T>(rows: readonly T[], columns: readonly SimpleColumn<T>[], order: string): readonly T[] {
  const column = columns.find(({ head }) => order === head || order === `-${head}`)
  const sortBy = column?.sortBy
  if (!column || !sortBy) return rows
  const sign = order === column.head ? 1 : -1
  return rows.toSorted((a, b) => sign * compare(sortBy(a), sortBy(b)))
}

function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  return typeof a === 'string' || typeof b === 'string' ? String(a).localeCompare(String(b)) : a - b
}

type RowsProps<T> = Pick<SimpleTableProps<T>, 'name' | 'columns' | 'rows' | 'keyOf'> & {
  sorting: Sorting
  /** True if the headings are not visible. They then contain no buttons. */
  isCards: boolean
}

function Rows<T>({ name, columns, rows, keyOf, sorting, isCards }: RowsProps<T>) {
  const becomesCards = columns.length > NARROW
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section aria-label={name} tabIndex={0} className={`scroll ${classes.frame}`}>
      <Table
        aria-label={name}
        className={`${classes.table} ${becomesCards ? classes.cards : ''}`}
        data-cards={becomesCards || undefined}
      >
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ head, isHeadHidden, isNumber, isHighestFirst, sort, sortBy }) => {
              const field = sort ?? (sortBy && head)
              return (
                <Table.Th
                  key={head}
                  scope="col"
                  data-number={isNumber}
                  data-actions={isHeadHidden || undefined}
                  aria-sort={field ? directionOf(field, sorting) : undefined}
                >
                  {field && !isCards ? (
                    <SortButton field={field} sorting={sorting} isFigure={isNumber || isHighestFirst}>
                      {head}
                    </SortButton>
                  ) : isHeadHidden ? (
                    <VisuallyHidden>{head}</VisuallyHidden>
                  ) : (
                    head
                  )}
                </Table.Th>
              )
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(({ head, isHeadHidden, isNumber, cell }, index) =>
                index === 0 ? (
                  <Table.Th key={head} scope="row" fw={600} data-number={isNumber}>
                    {cell(row)}
                  </Table.Th>
                ) : (
                  <Table.Td
                    key={head}
                    data-number={isNumber}
                    data-actions={isHeadHidden || undefined}
                    data-head={isHeadHidden ? undefined : head}
                  >
                    {cell(row)}
                  </Table.Td>
                ),
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
