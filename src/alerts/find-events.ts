import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { wholeEvent } from '../warehouse/dialect.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'

/** Position of an event in the history. `receivedAt` speeds up the lookup. */
export interface EventPosition {
  seq: number
  receivedAt: Instant
}

/** An event without its organization. */
export type EventWithoutOrg = Omit<StoredEvent, 'orgId'>

/**
 * Returns the query for the complete events (`StoredEvent`) at these positions, in no particular order. Requires at
 * least one position.
 */
export function eventsQuery(orgId: string, positions: readonly EventPosition[]): Query {
  const times = positions.map(({ receivedAt }) => receivedAt)
  const seqs = [...new Set(positions.map(({ seq }) => seq))]
  return query('alerts.events-at', {
    orgId,
    window: { from: Math.min(...times), to: Math.max(...times) + 1 },
    write(binder) {
      const bound = seqs.map((seq) => binder.bind(seq)).join(', ')
      return {
        sql: `SELECT ${wholeEvent(binder.dialect)} FROM events WHERE seq IN (${bound})`,
        wholeParams: true,
      }
    },
  })
}

/** Returns the complete events at these positions, in the same order. Events that no longer exist are omitted. */
export async function findEvents(
  orgId: string,
  positions: readonly EventPosition[],
  history: History,
): Promise<EventWithoutOrg[]> {
  if (positions.length === 0) return []
  const events = await history.query<StoredEvent>(eventsQuery(orgId, positions))
  const bySeq = new Map(events.map(({ orgId: _, ...event }) => [event.seq, event]))
  return positions.flatMap(({ seq }) => bySeq.get(seq) ?? [])
}
