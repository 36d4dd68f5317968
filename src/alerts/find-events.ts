import type { Instant } from '../core/clock.ts'
import { EVENT_COLUMNS, type StoredEvent } from '../core/event.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'

/** The position of an event in the history; `receivedAt` makes the lookup cheap. */
export interface EventPosition {
  seq: number
  receivedAt: Instant
}

/** An event without its organization. */
export type EventWithoutOrg = Omit<StoredEvent, 'orgId'>

/** Returns the query for the whole events (`StoredEvent`) at these places, at least one, in no order. */
export function eventsQuery(orgId: string, places: readonly EventPosition[]): Query {
  const times = places.map(({ receivedAt }) => receivedAt)
  const seqs = [...new Set(places.map(({ seq }) => seq))]
  return query('alerts.events-at', {
    orgId,
    window: { from: Math.min(...times), to: Math.max(...times) + 1 },
    write(binder) {
      const bound = seqs.map((seq) => binder.bind(seq)).join(', ')
      return {
        sql: `SELECT ${Object.keys(EVENT_COLUMNS).join(', ')}, params FROM events WHERE seq IN (${bound})`,
        wholeParams: true,
      }
    },
  })
}

/** Returns the whole events at these places, in the places' order. Events that no longer exist are left out. */
export async function findEvents(
  orgId: string,
  places: readonly EventPosition[],
  history: History,
): Promise<EventWithoutOrg[]> {
  if (places.length === 0) return []
  const events = await history.query<StoredEvent>(eventsQuery(orgId, places))
  const bySeq = new Map(events.map(({ orgId: _, ...event }) => [event.seq, event]))
  return places.flatMap(({ seq }) => bySeq.get(seq) ?? [])
}
