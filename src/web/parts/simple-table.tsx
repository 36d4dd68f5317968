import { Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

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
}

/** A table of at most a few hundred rows, in a box of its own that scrolls sideways. The first column names the row. */
export function SimpleTable<T>({ name, columns, rows, keyOf }: SimpleTableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever scrolls with the keyboard needs the focus in the box
    <section aria-label={name} tabIndex={0} className="scroll">
      <Table aria-label={name}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ head, isHeadHidden, isNumber }) => (
              <Table.Th key={head} scope="col" ta={isNumber ? 'end' : undefined}>
                {isHeadHidden ? <VisuallyHidden>{head}</VisuallyHidden> : head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(({ head, isNumber, cell }, index) =>
                index === 0 ? (
                  <Table.Th key={head} scope="row" fw={600} ta={isNumber ? 'end' : undefined}>
                    {cell(row)}
                  </Table.Th>
                ) : (
                  <Table.Td key={head} ta={isNumber ? 'end' : undefined}>
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
