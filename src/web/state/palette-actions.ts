import { useEffect, useRef } from 'react'

/** An action in the command palette. */
export interface PaletteAction {
  name: string
  /** Additional search terms. */
  keywords?: string
  /** Keyboard shortcut of the action. */
  letter?: string
  run(): unknown
}

const stack: { current: readonly PaletteAction[] }[] = []

/** Adds actions to the command palette while the component is mounted. */
export function usePaletteActions(acts: readonly PaletteAction[]): void {
  const held = useRef(acts)
  held.current = acts
  useEffect(() => {
    stack.push(held)
    return () => void stack.splice(stack.indexOf(held), 1)
  }, [])
}

/** Actions of the mounted components. */
export const paletteActions = (): PaletteAction[] => stack.flatMap(({ current }) => current)

/**
 * Returns the items that contain a word starting with each word of `typed`. Items whose name starts with the first word
 * come first.
 */
export function matching<T extends { name: string; keywords?: string }>(items: readonly T[], typed: string): T[] {
  const asked = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const wordsOf = ({ name, keywords = '' }: T) => `${name} ${keywords}`.toLowerCase().split(/[\s/·-]+/)
  const fits = items.filter((item) => {
    const its = wordsOf(item)
    return asked.every((word) => its.some((one) => one.startsWith(word)))
  })
  const isFirst = ({ name }: T) => Number(name.toLowerCase().startsWith(asked[0] ?? ''))
  return fits.toSorted((a, b) => isFirst(b) - isFirst(a))
}
