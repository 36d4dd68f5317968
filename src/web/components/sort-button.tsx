import { ActionIcon, Group, NativeSelect, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { messages } from '../messages.ts'

/** The order of a list: a field of the API's `sort`, with `-` for the other direction. */
export interface Sorting {
  value: string
  change(value: string): void
  /** Direction of a field without `-`. Default: ascending. */
  plain?: 'ascending' | 'descending'
  /** Order of a list that nobody has sorted. */
  fallback?: string
}

type Direction = 'ascending' | 'descending'

/** Returns the value of `aria-sort` for the column of a field. */
export function directionOf(field: string, { value, plain = 'ascending' }: Sorting): Direction | 'none' {
  if (value === field) return plain
  if (value === `-${field}`) return plain === 'ascending' ? 'descending' : 'ascending'
  return 'none'
}

/**
 * Returns the next value of `sort` when the heading of a field is clicked: numbers and times begin with the highest,
 * texts with the first, and each further click reverses the order.
 */
function nextSort(field: string, sorting: Sorting, isFigure: boolean): string {
  const { plain = 'ascending' } = sorting
  const now = directionOf(field, sorting)
  const next =
    now === 'none' ? (isFigure ? 'descending' : 'ascending') : now === 'ascending' ? 'descending' : 'ascending'
  return next === plain ? field : `-${field}`
}

interface SortButtonProps {
  field: string
  sorting: Sorting
  /** True for numbers and times. */
  isFigure?: boolean
  children: ReactNode
}

/** The heading of a column by which a list can be sorted. Its `th` has `aria-sort`. */
export function SortButton({ field, sorting, isFigure = false, children }: SortButtonProps) {
  const direction = directionOf(field, sorting)
  const Arrow = direction === 'descending' ? IconArrowDown : IconArrowUp
  return (
    <UnstyledButton
      fz="inherit"
      fw={direction === 'none' ? 'inherit' : 600}
      c="inherit"
      mih={24}
      onClick={() => sorting.change(nextSort(field, sorting, isFigure))}
    >
      {children}{' '}
      {direction !== 'none' && <Arrow size={12} stroke={2} aria-hidden style={{ verticalAlign: 'middle' }} />}
    </UnstyledButton>
  )
}

/** A field by which a list can be sorted. */
export interface SortOption {
  field: string
  label: string
  /** True for numbers and times. */
  isFigure?: boolean
}

/** The order of a list on a phone, whose headings are not shown: a field and a button that reverses the order. */
export function SortSelect({ options, sorting }: { options: readonly SortOption[]; sorting: Sorting }) {
  const { value, fallback = '' } = sorting
  const { components: t } = messages
  const chosen = options.find(({ field }) => directionOf(field, sorting) !== 'none')
  const hasDefault = options.every(({ field }) => directionOf(field, { ...sorting, value: fallback }) === 'none')
  const Arrow = chosen && directionOf(chosen.field, sorting) === 'ascending' ? IconArrowUp : IconArrowDown
  const choose = (name: string) => {
    const option = options.find(({ field }) => field === name)
    sorting.change(option ? nextSort(option.field, sorting, option.isFigure ?? false) : fallback)
  }
  return (
    <Group gap="xs" justify="flex-end" mb="xs" wrap="nowrap">
      <NativeSelect
        size="xs"
        aria-label={t.sortBy}
        value={chosen?.field ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          ...(hasDefault || !chosen ? [{ value: '', label: t.defaultOrder }] : []),
          ...options.map(({ field, label }) => ({ value: field, label: t.sortedBy(label) })),
        ]}
      />
      <ActionIcon
        variant="default"
        size={30}
        aria-label={t.reverseOrder}
        title={t.reverseOrder}
        disabled={!chosen}
        onClick={() => sorting.change(value.startsWith('-') ? value.slice(1) : `-${value}`)}
      >
        <Arrow size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}
