import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { messages } from '../messages.ts'
import { formatNumber } from './format.ts'
import classes from './paginated.module.css'
import type { PagedQuery } from './virtual-table.tsx'

/** Default number of rows per page. */
const SIZE = 100

interface PagedProps<T> {
  /** Loaded rows. */
  rows: readonly T[]
  /** Set if more rows can be loaded. */
  pages?: PagedQuery | null
  size?: number
  children(shown: readonly T[]): ReactNode
}

/** Shows a list page by page and loads more rows when needed. */
export function Paginated<T>({ rows, pages = null, size = SIZE, children }: PagedProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  const { shown, ...place } = usePage(rows, size, pages)
  return (
    <Stack gap="md" ref={box} className={classes.paged}>
      {children(shown)}
      <Pager {...place} onGo={() => box.current?.scrollIntoView()} />
    </Stack>
  )
}

interface Place {
  /** Index of the first shown row. */
  first: number
  /** Number of shown rows, at most `size`. */
  count: number
  size: number
  /** Total number of rows; null if unknown. */
  total: number | null
  isAsking: boolean
  goTo(first: number): void
  goOn(): Promise<void>
}

/** Returns the rows of the current page, and the props of `Pager`. */
export function usePage<T>(
  rows: readonly T[],
  size: number,
  pages: PagedQuery | null = null,
): Place & { shown: readonly T[] } {
  const [wanted, show] = useState(0)
  // Rows may have been removed since the page was selected.
  const first = Math.min(wanted, Math.max(0, Math.ceil(rows.length / size) - 1) * size)
  const hasMore = pages?.hasNextPage ?? false
  const shown = rows.slice(first, first + size)
  return {
    shown,
    first,
    count: shown.length,
    size,
    total: hasMore ? null : rows.length,
    isAsking: pages?.isFetchingNextPage ?? false,
    goTo: show,
    async goOn() {
      if (first + 2 * size > rows.length && hasMore) await pages?.fetchNextPage()
      show(first + size)
    },
  }
}

/** Previous and Next buttons; nothing for a single page. */
export function Pager({ first, count, size, total, isAsking, goTo, goOn, onGo }: Place & { onGo?: () => void }) {
  const isLast = total !== null && first + size >= total
  if (first === 0 && isLast) return null
  return (
    <Group gap="sm">
      <Button
        variant="default"
        disabled={first === 0}
        onClick={() => {
          goTo(first - size)
          onGo?.()
        }}
      >
        {messages.components.previous}
      </Button>
      <Button variant="default" disabled={isLast} loading={isAsking} onClick={() => void goOn().then(onGo)}>
        {messages.components.next}
      </Button>
      <Text c="dimmed" fz="sm">
        {messages.components.position(
          formatNumber(first + 1),
          formatNumber(first + count),
          total === null ? null : formatNumber(total),
        )}
      </Text>
    </Group>
  )
}
