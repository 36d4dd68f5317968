import type { DictionaryEvent, FlatRow, Key } from './events-by-vendor.ts'

/** Columns by which the dictionary can be sorted, in the order of its headings. */
export const DICTIONARY_SORTS = ['name', 'presence', 'type', 'values', 'lastSeen'] as const
export type DictionarySort = (typeof DICTIONARY_SORTS)[number]

type Value = string | number | null

const compare = (a: Value, b: Value): number => {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  return typeof a === 'string' || typeof b === 'string' ? String(a).localeCompare(String(b)) : a - b
}

/** Returns the rows sorted by a field of `sort`, with `-` in descending order; null is the lowest. Stable. */
function sorted<T>(rows: readonly T[], sort: string, values: Partial<Record<DictionarySort, (row: T) => Value>>) {
  const value = values[sort.replace('-', '') as DictionarySort]
  if (!value) return rows
  const sign = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => sign * compare(value(a), value(b)))
}

/** Sorts the keys of an event. Without an order, they stay sorted by presence. */
export const sortKeys = (keys: readonly Key[], sort: string): readonly Key[] =>
  sorted(keys, sort, {
    name: ({ key }) => key,
    presence: ({ presencePct }) => presencePct,
    type: ({ semanticType, type }) => semanticType ?? type,
    values: ({ cardinality }) => cardinality,
    lastSeen: ({ lastSeen }) => lastSeen,
  })

/** Sorts the events of a vendor, which have no other values than their name and when they were last seen. */
export const sortEvents = (events: readonly DictionaryEvent[], sort: string): readonly DictionaryEvent[] =>
  sorted(events, sort, { name: ({ event }) => event, lastSeen: ({ lastSeen }) => lastSeen })

/** Sorts search results. Their presence is a number of events. */
export const sortResults = (rows: readonly FlatRow[], sort: string): readonly FlatRow[] =>
  sorted(rows, sort, {
    name: ({ key }) => key,
    presence: ({ count }) => count,
    lastSeen: ({ lastSeen }) => lastSeen,
  })
