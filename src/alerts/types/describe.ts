import type { AlertType } from './alert-type.ts'
import { alertTypes } from './index.ts'

const quoted = (name: string) => `\`${name}\``

/** Returns a text for each group of types for which `describe` returns the same: `[['a', 'b'], 'counts']`. */
function grouped(describe: (type: AlertType) => string): [kinds: string, text: string][] {
  const groups = Map.groupBy(alertTypes, describe)
  return [...groups].map(([text, types]) => [types.map(({ kind }) => quoted(kind)).join(', '), text])
}

/** Returns what each type looks at: `` `a`: single events by `conditions`. `b`, `c`: counts, by `volume` ``. */
export function lookedAt(): string {
  return grouped(({ looksAt }) => looksAt)
    .map(([kinds, text]) => `${kinds}: ${text}`)
    .join('. ')
}

/** Returns a text that describes all types: ``Of `a`: violating events; of `b`, `c`: windows that fired``. */
export function describeByType(describe: (type: AlertType) => string): string {
  const parts = grouped(describe).map(([kinds, text]) => `of ${kinds}: ${text}`)
  return parts.join('; ').replace(/^o/, 'O')
}

/** Returns the kinds of the types for which `holds` is true: `` `a`, `b` ``. */
export function kindsWith(holds: (type: AlertType) => boolean): string {
  const kinds = alertTypes.filter(holds).map(({ kind }) => quoted(kind))
  return kinds.join(', ')
}
