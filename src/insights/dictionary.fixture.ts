import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { isBlank } from '../conditions/text-length.ts'
import type { StoredEvent } from '../core/event.ts'
import { typeOfValue } from '../core/value-type.ts'

/** The expected data for one parameter name. Sums are not rounded. */
export interface PlainKey {
  key: string
  weight: number
  lastSeen: number
  /** Masked values, most frequent first. */
  values: { value: string; weight: number }[]
  type: string
}

export const bytesFirst = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const rounded = (weight: number) => Number(weight.toFixed(6))

interface Found {
  weight: number
  lastSeen: number
  types: Record<string, number>
  values: Map<string, number>
}

/** Returns the parameters of these events by masked name, computed with simple loops. */
export function plainKeys(events: readonly StoredEvent[], privacy: Privacy): PlainKey[] {
  const keys = new Map<string, Found>()
  for (const { params, weight, receivedAt, kind } of events) {
    if (kind === 'library') continue
    for (const [name, text] of Object.entries(params)) {
      if (isBlank(text)) continue
      const key = maskPersonal(name, '', privacy)
      const value = maskPersonal(text, name, privacy)
      const known: Found = keys.get(key) ?? { weight: 0, lastSeen: 0, types: {}, values: new Map() }
      keys.set(key, known)
      known.weight += weight
      known.lastSeen = Math.max(known.lastSeen, receivedAt)
      known.types[typeOfValue(text)] = (known.types[typeOfValue(text)] ?? 0) + weight
      known.values.set(value, (known.values.get(value) ?? 0) + weight)
    }
  }
  return [...keys].map(([key, { weight, lastSeen, types, values }]) => ({
    key,
    weight,
    lastSeen,
    values: [...values]
      .map(([value, weight]) => ({ value, weight }))
      .sort((a, b) => rounded(b.weight) - rounded(a.weight) || bytesFirst(a.value, b.value)),
    type: Object.entries(types).find(([, sum]) => sum >= weight * 0.99)?.[0] ?? 'mixed',
  }))
}

export const sumOf = (events: readonly StoredEvent[]) =>
  events.reduce((sum, { kind, weight }) => (kind === 'library' ? sum : sum + weight), 0)
