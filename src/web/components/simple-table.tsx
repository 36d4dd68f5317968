import { Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { Paginated } from './paginated.tsx'
import classes from './simple-table.module.css'
import type { PagedQuery } from './virtual-table.tsx'

/** A column of a simple table. */
export interface SimpleColumn<T> {
  /** Heading; also the React key. */
  head: string
  /** True if the heading is only for screen readers. */
  isHeadHidden?: boolean
  /** Right-aligns the column. */
  isNumber?: boolean
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
}

/** Maximum number of columns on a phone. */
const NARROW = 3

/**
 * A paginated table that scrolls horizontally. The first column is the row header. On a phone, tables with more than
 * three columns show their rows as cards.
 */
export function SimpleTable<T>({ rows, pages, size, ...table }: SimpleTableProps<T>) {
  return (
    <Paginated rows={rows} pages={pages ?? null} {...(size && { size })}>
      {(shown) => <Rows {...table} rows={shown} />}
    </Paginated>
  )
}

function Rows<T>({ name, columns, rows, keyOf }: Omit<SimpleTableProps<T>, 'pages' | 'size'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section aria-label={name} tabIndex={0} className="scroll">
      <Table aria-label={name} className={`${classes.table} ${columns.length > NARROW ? classes.cards : ''}`}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ head, isHeadHidden, isNumber }) => (
              <Table.Th key={head} scope="col" data-number={isNumber}>
                {isHeadHidden ? <VisuallyHidden>{head}</VisuallyHidden> : head}
              </Table.Th>
            ))}
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
                  <Table.Td key={head} data-number={isNumber} data-head={isHeadHidden ? undefined : head}>
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
