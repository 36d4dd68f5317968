import type { AlertType } from './alert-type.ts'
import { alertTypes } from './index.ts'

const quoted = (name: string) => `\`${name}\``

/** Groups kinds for which `describe` returns the same string: ``[['`a`, `b`', 'counts']]``. */
function grouped<K extends { kind: string }>(kinds: readonly K[], describe: (kind: K) => string) {
  const groups = Map.groupBy(kinds, describe)
  return [...groups].map(([text, alike]) => [alike.map(({ kind }) => quoted(kind)).join(', '), text] as const)
}

/**
 * Returns a description of the data that each type evaluates: `` `a`: single events by `conditions`. `b`, `c`: counts,
 * by `volume` ``.
 */
export function describeJudgedData(): string {
  return grouped(alertTypes, ({ form }) => form.judges)
    .map(([kinds, text]) => `${kinds}: ${text}`)
    .join('. ')
}

/** Returns a string that describes all types: ``For `a`: violating events; for `b`, `c`: windows that fired``. */
export function describeByType(describe: (type: AlertType) => string): string {
  return describeKindGroups(alertTypes, describe)
}

/** Like `describeByType`, for these kinds. */
export function describeKindGroups<K extends { kind: string }>(
  kinds: readonly K[],
  describe: (kind: K) => string,
): string {
  const parts = grouped(kinds, describe).map(([names, text]) => `for ${names}: ${text}`)
  return parts.join('; ').replace(/^f/, 'F')
}

/** Returns the kinds of the types that satisfy `holds`: `` `a`, `b` ``. */
export function kindsWith(holds: (type: AlertType) => boolean): string {
  const kinds = alertTypes.filter(holds).map(({ kind }) => quoted(kind))
  return kinds.join(', ')
}
