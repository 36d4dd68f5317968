import type { History } from '../warehouse/warehouse.ts'
import { activeSignalsOn, type DailyEvents, dailyEventsQuery, dayOf, type SignalName } from './active-signals.ts'
import type { Span } from './series.ts'

/** Signals by UTC day, counted from 1970. */
export type SignalsByDay = ReadonlyMap<number, readonly SignalName[]>

/** Number of recent days that are cached, because they are queried repeatedly. */
const CACHED_DAYS = 2

/** Cache of the active signals of domains. The warehouse is queried for them once a day. */
export class SignalCache {
  private readonly known = new Map<string, SignalsByDay>()

  constructor(private readonly warehouse: History) {}

  /**
   * Returns the signals of domains of one organization on each day of `from < t <= to`. Fails when the warehouse is
   * unavailable.
   */
  async find(orgId: string, domainIds: readonly string[], { from, to }: Span): Promise<Map<string, SignalsByDay>> {
    const first = dayOf(from + 1)
    const days = Array.from({ length: dayOf(to) - first + 1 }, (_, at) => first + at)
    const isKnown = (id: string) => days.every((day) => this.known.get(id)?.has(day))
    const found = new Map(domainIds.filter(isKnown).map((id) => [id, this.daysOf(id, days)]))
    const missing = domainIds.filter((id) => !found.has(id))
    if (missing.length === 0) return found
    const rows = await this.warehouse.query<DailyEvents>(dailyEventsQuery(orgId, missing, { from: from + 1, to }))
    const daily = Map.groupBy(rows, ({ domainId }) => domainId)
    for (const id of missing) {
      const byDay = new Map(days.map((day) => [day, activeSignalsOn(day, daily.get(id) ?? [])]))
      found.set(id, byDay)
      this.remember(id, byDay)
    }
    return found
  }

  private daysOf(domainId: string, days: readonly number[]): SignalsByDay {
    return new Map(days.map((day) => [day, this.known.get(domainId)?.get(day) ?? []]))
  }

  private remember(domainId: string, byDay: SignalsByDay): void {
    const all = [...(this.known.get(domainId) ?? []), ...byDay]
    const last = Math.max(...all.map(([day]) => day))
    this.known.set(domainId, new Map(all.filter(([day]) => day > last - CACHED_DAYS)))
  }
}
