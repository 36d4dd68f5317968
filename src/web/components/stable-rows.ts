import { type RefObject, useEffect, useRef, useState } from 'react'

/**
 * Merges new data into a list without moving rows. Existing rows are updated or removed. New rows are only counted,
 * except rows after the last one, which belong to the next page and are appended.
 */
export function mergeStable<Row>(shown: readonly Row[], latest: readonly Row[], idOf: (row: Row) => string) {
  const places = new Map(latest.map((row, index) => [idOf(row), index]))
  const known = new Set(shown.map(idOf))
  const kept = shown.flatMap((row) => latest[places.get(idOf(row)) ?? -1] ?? [])
  const last = Math.max(-1, ...kept.slice(-1).map((row) => places.get(idOf(row)) ?? -1))
  const fresh = latest.map((row, index) => ({ row, index })).filter(({ row }) => !known.has(idOf(row)))
  return {
    rows: [...kept, ...fresh.filter(({ index }) => index > last).map(({ row }) => row)],
    newer: fresh.filter(({ index }) => index < last).length,
  }
}

/**
 * Returns rows that don't move while the pointer or focus is in `place`. When `question` (the list's query) changes,
 * the rows are replaced immediately. `show` applies the pending changes.
 */
export function useStableRows<Row>(
  latest: readonly Row[],
  idOf: (row: Row) => string,
  place: RefObject<HTMLElement | null>,
  question: string,
) {
  const shown = useRef({ question, latest, rows: latest, newer: 0 })
  const [, draw] = useState(0)
  const isHeld = () => place.current?.matches(':hover, :focus-within') ?? false
  const before = shown.current
  if (before.latest !== latest || before.question !== question) {
    const isSame = before.question === question && before.rows.length > 0 && isHeld()
    shown.current = {
      question,
      latest,
      ...(isSame ? mergeStable(before.rows, latest, idOf) : { rows: latest, newer: 0 }),
    }
  }
  const show = () => {
    shown.current = { ...shown.current, rows: shown.current.latest, newer: 0 }
    draw((count) => count + 1)
  }
  const release = useRef(show)
  release.current = show
  useEffect(() => {
    const element = place.current
    const leave = () => setTimeout(() => place.current?.matches(':hover, :focus-within') || release.current())
    const events = ['pointerleave', 'focusout'] as const
    for (const event of events) element?.addEventListener(event, leave)
    return () => {
      for (const event of events) element?.removeEventListener(event, leave)
    }
  }, [place])
  return { rows: shown.current.rows, newer: shown.current.newer, show }
}
