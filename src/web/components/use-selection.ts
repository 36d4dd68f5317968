import { useMemo, useState } from 'react'

/** The selected rows of a list. */
export interface Selection {
  ids: ReadonlySet<string>
  /** Selects or deselects a row. */
  toggle(id: string): void
  /** Adds rows to the selection. */
  add(ids: readonly string[]): void
  clear(): void
}

const NONE: ReadonlySet<string> = new Set()

/** Returns a selection that drops rows when they leave the list. */
export function useSelection(there: readonly string[]): Selection {
  const [chosen, choose] = useState(NONE)
  return useMemo(() => {
    const known = new Set(there)
    return {
      ids: new Set([...chosen].filter((id) => known.has(id))),
      toggle: (id) =>
        choose((before) =>
          before.has(id) ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id]),
        ),
      add: (ids) => choose((before) => new Set([...before, ...ids])),
      clear: () => choose(NONE),
    }
  }, [chosen, there])
}
