import { useMemo, useState } from 'react'

/** Which rows of a list are selected. */
export interface Selection {
  ids: ReadonlySet<string>
  /** Selects the row, or no longer. */
  toggle(id: string): void
  /** Selects these too. */
  add(ids: readonly string[]): void
  clear(): void
}

const NONE: ReadonlySet<string> = new Set()

/** A selection that forgets rows which the list no longer has. */
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
