import { Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { Paginated } from './paginated.tsx'
import classes from './simple-table.module.css'
import type { PagedQuery } from './virtual-table.tsx'

/** A column of a short table. */
export interface SimpleColumn<T> {
  /** What its heading says; also its key. */
  head: string
  /** True when only screen readers hear the heading: columns of buttons. */
  isHeadHidden?: boolean
  /** Numbers stand at the right. */
  isNumber?: boolean
  cell(row: T): ReactNode
}

interface SimpleTableProps<T> {
  name: string
  columns: readonly SimpleColumn<T>[]
  rows: readonly T[]
  keyOf(row: T): string
  /** Where there may be more rows than are loaded. */
  pages?: PagedQuery | null
  /** How many rows are shown at a time; 100 unless told. */
  size?: number
}

/** A phone is wide enough for so many columns. */
const NARROW = 3

/**
 * A table in a box of its own that scrolls sideways, so many rows at a time. The first column names the row. On a phone a
 * row of more than three columns is a card.
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever scrolls with the keyboard needs the focus in the box
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
