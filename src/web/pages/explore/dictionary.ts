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

/** As many rows as a search shows. */
export const SHOWN_AT_MOST = 200

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
