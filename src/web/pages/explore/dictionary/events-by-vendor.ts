import type { EventDictionary, FlatDictionary } from '#client/types.gen'

export type Key = EventDictionary['vendors'][number]['keys'][number]
export type FlatRow = FlatDictionary['rows'][number]

/** A vendor's event in the tree. */
export interface DictionaryEvent {
  event: string
  /** Number of distinct keys. */
  keys: number
  /** Most recent occurrence of any of its keys; null when unknown. */
  lastSeen: number | null
}

/**
 * Events by vendor, aggregated from the rows of all keys and sorted by name. A key that occurs in several domains
 * counts once.
 */
export function eventsByVendor(rows: readonly FlatRow[]): Map<string, DictionaryEvent[]> {
  const keys = new Map<string, Map<string, { names: Set<string>; lastSeen: number | null }>>()
  for (const { vendor, event, key, lastSeen } of rows) {
    const events = keys.get(vendor) ?? new Map()
    const found = events.get(event) ?? { names: new Set<string>(), lastSeen: null }
    found.names.add(key)
    if (lastSeen !== null) found.lastSeen = Math.max(found.lastSeen ?? 0, lastSeen)
    keys.set(vendor, events.set(event, found))
  }
  return new Map(
    [...keys].map(([vendor, events]) => [
      vendor,
      [...events]
        .map(([event, { names, lastSeen }]) => ({ event, keys: names.size, lastSeen }))
        .sort((a, b) => a.event.localeCompare(b.event)),
    ]),
  )
}

/** Keys that first appeared within the time range, and keys that disappeared before it. */
export interface ChangedKeys {
  new: FlatRow[]
  gone: FlatRow[]
  /** The sample of sessions in which they were compared; null if all were. */
  sampling: FlatDictionary['sampling']
}

/**
 * Compares a dictionary with one for a longer time range that ends at the same moment and was loaded immediately
 * before, and is based on the same sample of sessions. If either is truncated, only changes that are certain are returned.
 */
export function changedKeys(longer: FlatDictionary, recent: FlatDictionary): ChangedKeys {
  const idOf = ({ domain, vendor, event, key }: FlatRow) => JSON.stringify([domain, vendor, event, key])
  const counts = new Map(longer.rows.map((row) => [idOf(row), row.count]))
  const recentIds = new Set(recent.rows.map(idOf))
  const unknown = longer.truncated ? Number.POSITIVE_INFINITY : 0
  return {
    new: recent.rows.filter((row) => (counts.get(idOf(row)) ?? unknown) <= row.count),
    gone: recent.truncated ? [] : longer.rows.filter((row) => !recentIds.has(idOf(row))),
    sampling: longer.sampling,
  }
}

/** A key as spelled in conditions, where a single leading `$` denotes an event field. */
export const parameterOf = (key: string): string => (key.startsWith('$') ? `$${key}` : key)

/** Keys whose vendor, event, name or values contain the text, ignoring case; largest count first. */
export function findKeys(rows: readonly FlatRow[], text: string): FlatRow[] {
  const needle = text.trim().toLowerCase()
  const has = (given: string) => given.toLowerCase().includes(needle)
  return rows
    .filter(
      ({ vendor, event, key, values }) =>
        has(vendor) || has(event) || has(key) || values.some(({ value }) => has(value)),
    )
    .sort((a, b) => b.count - a.count)
}
