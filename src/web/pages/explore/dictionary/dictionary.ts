import type { EventDictionary, FlatDictionary } from '#client/types.gen'

export type Key = EventDictionary['vendors'][number]['keys'][number]
export type FlatRow = FlatDictionary['rows'][number]

/** An event of a vendor, as the tree lists it. */
export interface DictionaryEvent {
  event: string
  /** Different keys. */
  keys: number
  /** The most recent moment any of its keys was there; null where nobody knows. */
  lastSeen: number | null
}

/** The events of each vendor, from the rows of all keys, by name. A key that several domains have is one. */
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

/** Keys of the time asked for that were not there before it, and keys that were and are there no more. */
export interface ChangedKeys {
  new: FlatRow[]
  gone: FlatRow[]
}

/**
 * Compares a dictionary with that of a longer time, which ends at the same moment and was asked for just before. Of what either
 * leaves out because there is too much, only what is certain counts.
 */
export function changedKeys(longer: FlatDictionary, recent: FlatDictionary): ChangedKeys {
  const placeOf = ({ domain, vendor, event, key }: FlatRow) => JSON.stringify([domain, vendor, event, key])
  const counts = new Map(longer.rows.map((row) => [placeOf(row), row.count]))
  const there = new Set(recent.rows.map(placeOf))
  const unknown = longer.truncated ? Number.POSITIVE_INFINITY : 0
  return {
    new: recent.rows.filter((row) => (counts.get(placeOf(row)) ?? unknown) <= row.count),
    gone: recent.truncated ? [] : longer.rows.filter((row) => !there.has(placeOf(row))),
  }
}

/** How a condition spells a key: a `$` at its beginning would mean a field of the event. */
export const parameterOf = (key: string): string => (key.startsWith('$') ? `$${key}` : key)

/** The keys whose vendor, event, name or one of whose values has the text in it, capitals aside; the largest counts first. */
export function findKeys(rows: readonly FlatRow[], text: string): FlatRow[] {
  const sought = text.trim().toLowerCase()
  const has = (given: string) => given.toLowerCase().includes(sought)
  return rows
    .filter(
      ({ vendor, event, key, values }) =>
        has(vendor) || has(event) || has(key) || values.some(({ value }) => has(value)),
    )
    .sort((a, b) => b.count - a.count)
}
