import { type RefObject, useEffect, useRef, useState } from 'react'

/**
 * A list that somebody points at or has the focus in stays in its order: rows get their new content, those that are gone
 * leave, and what came is counted only. Rows behind the last one are a page that was loaded, and follow.
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
 * Rows that do not move while the pointer or the focus is in `place`. `question` says what the list is of: another one is
 * shown at once. `show` shows all as they are.
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
