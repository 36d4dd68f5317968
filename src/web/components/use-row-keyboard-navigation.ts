import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react'
import { useKeyBindings } from '../state/key-bindings.ts'
import type { Selection } from './use-selection.ts'

interface RowKeysGiven<Row> {
  rows: readonly Row[]
  idOf(row: Row): string
  selection?: Selection | null
  acts?: Readonly<Record<string, (rows: readonly Row[]) => void>>
  body: RefObject<HTMLTableSectionElement | null>
  /** Scrolls a row into view. */
  showRow(index: number): void
}

/** The focused row, or else the most recently focused row. */
interface Place {
  id: string | null
  index: number
}

type Binding = [key: string, run: () => unknown]

function clear(selection: Selection): boolean {
  selection.clear()
  return selection.ids.size > 0
}

/** Keyboard navigation and selection of rows. Moves the actual focus, so that screen readers follow. */
export function useRowKeys<Row>({ rows, idOf, selection = null, acts = {}, body, showRow }: RowKeysGiven<Row>) {
  const at = useRef<Place>({ id: null, index: -1 })
  const due = useRef<number | null>(null)
  const held = useRef({ rows, selection })
  held.current = { rows, selection }

  const indexOf = (id: string | null) => (id === null ? -1 : rows.findIndex((row) => idOf(row) === id))
  const idAt = (index: number) => (rows[index] === undefined ? null : idOf(rows[index]))
  const focus = (index: number): boolean => {
    const id = idAt(index)
    const row = id === null ? null : body.current?.querySelector(`tr[data-id="${CSS.escape(id)}"]`)
    if (!(row instanceof HTMLElement)) return false
    const target = row.querySelector<HTMLElement>('[data-row-link]') ?? row
    target.focus()
    at.current = { id, index }
    return true
  }

  // Focuses the target row once scrolling has mounted it, or a neighbouring row if the focused row was removed.
  useLayoutEffect(() => {
    if (due.current !== null && focus(due.current)) due.current = null
    const { id, index } = at.current
    if (id === null || document.activeElement !== document.body || indexOf(id) !== -1) return
    if (rows.length > 0) focus(Math.min(index, rows.length - 1))
  })

  const move = (step: number, isExtending: boolean) => {
    const found = indexOf(at.current.id)
    const here = found === -1 ? at.current.index : found
    const next = Math.max(0, Math.min(rows.length - 1, here + step))
    if (rows.length === 0) return
    if (isExtending) selection?.add([here, next].flatMap((index) => idAt(index) ?? []))
    showRow(next)
    if (!focus(next)) due.current = next
  }
  /** Handles an arrow key unless another element needs it. */
  const arrow = (step: number, isExtending: boolean) => {
    const { activeElement: active } = document
    const isFree = active === document.body || active?.tagName === 'H1' || active?.id === 'main'
    if (!isFree && !body.current?.contains(active)) return false
    move(step, isExtending)
    return true
  }
  const focused = (): Row | null => {
    const row = document.activeElement?.closest('tr')
    if (!row || !body.current?.contains(row)) return null
    return rows[indexOf(row.getAttribute('data-id'))] ?? null
  }
  const meant = (): readonly Row[] => {
    const chosen = selection ? rows.filter((row) => selection.ids.has(idOf(row))) : []
    const one = focused()
    return chosen.length > 0 ? chosen : one === null ? [] : [one]
  }

  const onRows = Object.entries(acts).map(
    ([key, run]): Binding => [
      key,
      () => {
        const those = meant()
        if (those.length > 0) run(those)
        return those.length > 0
      },
    ],
  )
  const toggleFocused = (selection: Selection) => {
    const row = focused()
    if (row !== null) selection.toggle(idOf(row))
    return row !== null
  }
  const moving: Binding[] = [
    ['j', () => move(1, false)],
    ['k', () => move(-1, false)],
    ['ArrowDown', () => arrow(1, false)],
    ['ArrowUp', () => arrow(-1, false)],
  ]
  const selecting: Binding[] = selection
    ? [
        ['x', () => toggleFocused(selection)],
        ['Shift+x', () => move(0, true)],
        ['Shift+j', () => move(1, true)],
        ['Shift+k', () => move(-1, true)],
        ['Shift+ArrowDown', () => arrow(1, true)],
        ['Shift+ArrowUp', () => arrow(-1, true)],
        ['Escape', () => clear(selection)],
      ]
    : []
  useKeyBindings(Object.fromEntries([...moving, ...selecting, ...onRows]))

  const lastPressed = useRef<string | null>(null)
  const select = useRef((id: string, isRange: boolean) => {
    const { rows, selection } = held.current
    const ids = rows.map(idOf)
    const from = lastPressed.current === null ? -1 : ids.indexOf(lastPressed.current)
    const to = ids.indexOf(id)
    if (isRange && from !== -1) selection?.add(ids.slice(Math.min(from, to), Math.max(from, to) + 1))
    else selection?.toggle(id)
    lastPressed.current = id
  }).current

  return {
    /** Called by a row's checkbox. A range starts at the most recently clicked row. */
    select,
    onFocus: ({ target }: FocusEvent) => {
      const id = target.closest('tr')?.getAttribute('data-id') ?? null
      if (id !== null) at.current = { id, index: indexOf(id) }
    },
  }
}
