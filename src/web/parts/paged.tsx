import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { words } from '../words.ts'
import { formatNumber } from './format.ts'
import classes from './paged.module.css'
import type { Pages } from './virtual-table.tsx'

/** So many rows are in the document at a time, unless told. */
const SIZE = 100

interface PagedProps<T> {
  /** What is loaded. */
  rows: readonly T[]
  /** Where there may be more than that. */
  pages?: Pages | null
  size?: number
  children(shown: readonly T[]): ReactNode
}

/** A list of any length, a part at a time: the rest is asked for when the reader goes on. */
export function Paged<T>({ rows, pages = null, size = SIZE, children }: PagedProps<T>) {
  const [wanted, show] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  // Rows may have gone since.
  const first = Math.min(wanted, Math.max(0, Math.ceil(rows.length / size) - 1) * size)
  const hasMore = pages?.hasNextPage ?? false
  const isLast = first + size >= rows.length && !hasMore
  const goTo = (index: number) => {
    show(index)
    box.current?.scrollIntoView()
  }
  const goOn = async () => {
    if (first + 2 * size > rows.length && hasMore) await pages?.fetchNextPage()
    goTo(first + size)
  }
  const shown = rows.slice(first, first + size)
  return (
    <Stack gap="md" ref={box} className={classes.paged}>
      {children(shown)}
      {(first > 0 || !isLast) && (
        <Group gap="sm">
          <Button variant="default" disabled={first === 0} onClick={() => goTo(first - size)}>
            {words.parts.back}
          </Button>
          <Button
            variant="default"
            disabled={isLast}
            loading={pages?.isFetchingNextPage ?? false}
            onClick={() => void goOn()}
          >
            {words.parts.goOn}
          </Button>
          <Text c="dimmed" fz="sm">
            {words.parts.place(
              formatNumber(first + 1),
              formatNumber(first + shown.length),
              hasMore ? null : formatNumber(rows.length),
            )}
          </Text>
        </Group>
      )}
    </Stack>
  )
}
