import { useEffect, useRef } from 'react'

/** Something that the command palette offers while its page is shown. */
export interface PaletteAction {
  name: string
  /** Other words that people look for it by. */
  keywords?: string
  /** The key that does the same. */
  letter?: string
  run(): unknown
}

const stack: { current: readonly PaletteAction[] }[] = []

/** Offers these in the command palette while the component is shown. */
export function usePaletteActions(acts: readonly PaletteAction[]): void {
  const held = useRef(acts)
  held.current = acts
  useEffect(() => {
    stack.push(held)
    return () => void stack.splice(stack.indexOf(held), 1)
  }, [])
}

/** What the open page offers. */
export const paletteActions = (): PaletteAction[] => stack.flatMap(({ current }) => current)

/** Those in whose name or other words every word of `typed` begins a word; those that begin so first. */
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
