import { Anchor, Paper, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Comparison } from '#client/types.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { Data } from '../../components/data-text.tsx'
import { formatNumber } from '../../components/format.ts'
import { Num } from '../../components/numbers.tsx'
import { type SimpleColumn, SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import type { SideFilters, Sides } from './compare-sides.ts'

type Row = Comparison['rows'][number]

/** Kinds of rows, in display order. */
const KINDS = ['event', 'key', 'value', 'consent', 'violation', 'host'] as const

interface RowsProps {
  rows: readonly Row[]
  sides: Sides
  names: readonly [a: string, b: string]
  /** True if rows that are not significant are shown as well. */
  isAll: boolean
}

/** The differences, with a table for each kind. */
export function ComparedRows({ rows, sides, names, isAll }: RowsProps) {
  const t = messages.compare
  return KINDS.map((kind) => {
    const own = rows.filter((row) => row.kind === kind)
    if (own.length === 0) return null
    return (
      <Paper key={kind} component="section">
        <Title order={2}>{t.kinds[kind]}</Title>
        <Text c="dimmed" fz="sm" mb="xs">
          {t.hints[kind]}
        </Text>
        <SimpleTable
          name={t.kinds[kind]}
          rows={own}
          keyOf={({ vendor, event, key, value }) => JSON.stringify([vendor, event, key, value])}
          columns={columnsOf(kind, { sides, names, isAll })}
        />
      </Paper>
    )
  })
}

function columnsOf(kind: Row['kind'], { sides, names, isAll }: Omit<RowsProps, 'rows'>): SimpleColumn<Row>[] {
  const t = messages.compare
  const shares = (['a', 'b'] as const).map(
    (side, at): SimpleColumn<Row> => ({
      head: names[at] ?? '',
      isNumber: true,
      cell: (row) => <Share row={row} side={side} filters={sides[side]} name={names[at] ?? ''} />,
    }),
  )
  const perSession = (['aPerSession', 'bPerSession'] as const).map(
    (field, at): SimpleColumn<Row> => ({
      head: t.perSessionOf(names[at] ?? ''),
      isNumber: true,
      cell: (row) => <Num value={row[field]} />,
    }),
  )
  return [
    { head: t.kinds[kind], cell: (row) => <Data>{nameOf(row)}</Data> },
    ...shares,
    { head: t.difference, isNumber: true, cell: ({ differencePp }) => <Data>{points(differencePp)}</Data> },
    ...(kind === 'event' ? perSession : []),
    ...(isAll ? [{ head: t.significant, cell: ({ sure }: Row) => (sure ? t.yes : t.no) }] : []),
  ]
}

/** Formats percentage points with their sign: `+12.3 pp`. */
export const points = (value: number): string => `${value > 0 ? '+' : ''}${formatNumber(value, 1)}\u00a0pp`

/** Returns what a row compares: `Google Analytics 4 purchase: currency = EUR`. */
function nameOf({ kind, vendor, event, key, value }: Row): string {
  if (kind === 'host') return value ?? ''
  const about = [vendor, event === '' ? messages.compare.unnamed : event].filter((part) => part !== null).join(' ')
  if (key === null) return about
  return `${about}: ${value === null ? key : `${key} = ${value}`}`
}

/** A share, as a link to its events. On the side where a parameter is rarer, the link leads to events without it. */
function Share({ row, side, filters, name }: { row: Row; side: 'a' | 'b'; filters: SideFilters; name: string }) {
  const t = messages.compare
  const share = row[side === 'a' ? 'aPct' : 'bPct']
  const other = row[side === 'a' ? 'bPct' : 'aPct']
  const isWithout = row.kind === 'key' && share < other
  const text = `${formatNumber(share, 1)}\u00a0%`
  const label = isWithout ? t.without(text, nameOf(row), name) : t.eventsOf(text, nameOf(row), name)
  return (
    <Anchor
      component={Link}
      to={PAGE_PATHS.explore.events}
      search={{ ...filters, ...eventFilters(row, isWithout) } as never}
      aria-label={label}
    >
      <Data>{text}</Data>
    </Anchor>
  )
}

/** Returns the filters of the Events page for the events of a row. */
function eventFilters({ kind, vendor, event, key, value }: Row, isWithout: boolean): Record<string, string> {
  if (kind === 'host') return { param: `$host=${value}` }
  return {
    ...(vendor && { vendor }),
    ...(event && { event }),
    ...(kind === 'violation' && { violated: 'true' }),
    ...(kind === 'key' && key && { param: isWithout ? `${key}=` : key }),
    ...((kind === 'value' || kind === 'consent') && { param: `${key}=${value}` }),
  }
}
