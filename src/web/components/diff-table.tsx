import { Button, Table } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { messages } from '../messages.ts'
import { Code } from './data-text.tsx'
import classes from './diff-table.module.css'
import { type DiffRow, diffOf, type Parameters } from './param-diff.ts'

interface DiffTableProps {
  /** Accessible name of the table. */
  name: string
  /** Headings of the two columns. */
  heads: readonly [ReactNode, ReactNode]
  left: Parameters
  /** Null if there is nothing to compare with. */
  right: Parameters | null
  /** Parameters to list first. */
  first?: readonly string[]
}

/** Rows shown initially if there is nothing to compare with. */
const ALONE = 8

/** Compares two sets of parameters. Differences come first and are marked; equal parameters are collapsed. */
export function DiffTable({ name, heads, left, right, first: named = [] }: DiffTableProps) {
  const [isWhole, showAll] = useState(false)
  const rows = diffOf(left, right, named)
  const differing = rows.filter(({ differs }) => differs)
  const first = right === null ? rows.slice(0, ALONE) : differing
  const shown = isWhole ? rows : first
  return (
    <>
      <Table.ScrollContainer minWidth={320} scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': name } }}>
        <Table aria-label={name} layout="fixed" className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{messages.components.parameter}</Table.Th>
              <Table.Th scope="col">{heads[0]}</Table.Th>
              {right !== null && <Table.Th scope="col">{heads[1]}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((row) => (
              <Row key={row.key} row={row} isPair={right !== null} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {rows.length > first.length && (
        <Button variant="subtle" size="compact-sm" aria-expanded={isWhole} onClick={() => showAll(!isWhole)}>
          {isWhole
            ? messages.components.showLess
            : messages.components.showMore(rows.length - first.length, right !== null)}
        </Button>
      )}
    </>
  )
}

function Row({ row: { key, left, right, differs }, isPair }: { row: DiffRow; isPair: boolean }) {
  return (
    <Table.Tr className={classes.row} data-differs={(differs && isPair) || undefined}>
      <Table.Th scope="row" fw={400}>
        <Code>{key}</Code>
        {differs && isPair && <span className={classes.mark}>{messages.components.differs}</span>}
      </Table.Th>
      <Value value={left} />
      {isPair && <Value value={right} />}
    </Table.Tr>
  )
}

function Value({ value }: { value: string | null }) {
  if (value === null) return <Table.Td className={classes.none}>{messages.components.notSent}</Table.Td>
  if (value.trim() === '') return <Table.Td className={classes.none}>{messages.components.blank}</Table.Td>
  return (
    <Table.Td className={classes.value}>
      <Code>{value}</Code>
    </Table.Td>
  )
}
