import type { AlertType } from './alert-type.ts'
import { alertTypes } from './index.ts'

const quoted = (name: string) => `\`${name}\``

/** What types say, those together that say the same: `[['a', 'b'], 'counts']`. */
function grouped(say: (type: AlertType) => string): [kinds: string, text: string][] {
  const groups = Map.groupBy(alertTypes, say)
  return [...groups].map(([text, types]) => [types.map(({ kind }) => quoted(kind)).join(', '), text])
}

/** What types look at: `` `a`: single events by `conditions`. `b`, `c`: counts, by `volume` ``. */
export function lookedAt(): string {
  return grouped(({ looksAt }) => looksAt)
    .map(([kinds, text]) => `${kinds}: ${text}`)
    .join('. ')
}

/** ``Of `a`: violating events; of `b`, `c`: windows that fired`` */
export function saidByType(say: (type: AlertType) => string): string {
  const said = grouped(say).map(([kinds, text]) => `of ${kinds}: ${text}`)
  return said.join('; ').replace(/^o/, 'O')
}

/** Types for which something holds: `` `a`, `b` ``. */
export function kindsWith(holds: (type: AlertType) => boolean): string {
  const kinds = alertTypes.filter(holds).map(({ kind }) => quoted(kind))
  return kinds.join(', ')
}
