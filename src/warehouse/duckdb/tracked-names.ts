import { DAY_MS, type Instant } from '../../core/clock.ts'
import type { VendorSighting } from '../../domains/sightings.ts'
import { type Db, prepared } from '../../store/database.ts'

/**
 * The token of a browser is public, so anybody can make names up: counts keep so many of a domain, a name being a vendor
 * with one of its events.
 */
export const MAX_NAMES = 1000
/** A name with so many events was not made up in passing. */
const ENOUGH = 100
/** It keeps its place so long after its last event: longer than a signal stays one without traffic. */
const KEPT_DAYS = 35

/** How often a name came in one segment. */
export interface NameCount {
  domainId: string
  vendor: string
  event: string
  events: number
  lastReceivedAt: Instant
}

/** What is known of a name that counts keep. */
interface TrackedName {
  vendor: string
  /** Counted up to `MIN_WEEKLY_EVENTS`. */
  events: number
  /** UTC day of its last event, counted from 1970. */
  lastDay: number
}

/** By `keyOf`. */
type TrackedNamesByKey = ReadonlyMap<string, TrackedName>

/** Which names of a domain that has too many are counted by themselves in one segment. */
export interface NameOverflow {
  domainId: string
  /** Those that came in it. */
  names: readonly NameCount[]
  /** Every vendor of which counts keep a name. */
  vendors: readonly string[]
}

/** What a segment's names are counted as, and what counts keep because of it. */
export interface NamePlan {
  /** None when every name is counted by itself. */
  overflows: readonly NameOverflow[]
  /** Vendors whose names are kept. */
  vendors: readonly VendorSighting[]
  /** Names that are new, and those of which more is known now. */
  tracked: readonly (Omit<NameCount, 'lastReceivedAt'> & { lastDay: number })[]
  /** Names that gave their place away. */
  evicted: readonly Pick<NameCount, 'domainId' | 'vendor' | 'event'>[]
}

/** The names that counts keep. In SQLite, so that they change in the transaction that adds a segment; mirrored in memory. */
export class TrackedNames {
  /** Of domains that sent something lately. */
  private readonly known = new Map<string, Map<string, TrackedName>>()

  constructor(private readonly db: Db) {}

  /** The names that are kept of a domain, at most `MAX_NAMES`. */
  of(domainId: string): Pick<NameCount, 'domainId' | 'vendor' | 'event'>[] {
    return [...this.placesOf(domainId).keys()].map((key) => ({ domainId, ...nameOf(key) }))
  }

  /**
   * Decides what these names of one segment are counted as. `cutOff`: domains with more names in the segment than are
   * given; of them those that are kept are given all, and of the others those with the most events.
   */
  plan(seen: readonly NameCount[], cutOff: ReadonlySet<string>): NamePlan {
    const plan = {
      overflows: [] as NameOverflow[],
      vendors: [] as VendorSighting[],
      tracked: [] as NamePlan['tracked'][number][],
    }
    const left: NamePlan['evicted'][number][] = []
    for (const [domainId, names] of Map.groupBy(seen, (name) => name.domainId)) {
      const places = this.placesOf(domainId)
      const { entering, leaving } = admitNames(places, names)
      const isKept = (name: NameCount) => places.has(keyOf(name)) || entering.has(name)
      const own = names.filter(isKept)
      for (const key of leaving) left.push({ domainId, ...nameOf(key) })
      for (const name of own) {
        const place = grown(places.get(keyOf(name)), name)
        if (place) plan.tracked.push({ domainId, vendor: name.vendor, event: name.event, ...place })
      }
      if (own.length < names.length || cutOff.has(domainId)) {
        const vendors = new Set([...places.values(), ...own].map(({ vendor }) => vendor))
        plan.overflows.push({ domainId, names: own, vendors: [...vendors] })
      }
      for (const [vendor, ofVendor] of Map.groupBy(own, (name) => name.vendor)) {
        const lastReceivedAt = ofVendor.reduce((last, name) => Math.max(last, name.lastReceivedAt), 0)
        plan.vendors.push({ domainId, vendor, lastReceivedAt })
      }
    }
    return { ...plan, evicted: left }
  }

  /** Writes down what a plan keeps, in a transaction of the caller's; what is answered takes it into memory afterwards. */
  write({ tracked: kept, evicted: left }: NamePlan): () => void {
    const remove = prepared(this.db, 'DELETE FROM countedName WHERE domainId = ? AND vendor = ? AND event = ?')
    for (const { domainId, vendor, event } of left) remove.run(domainId, vendor, event)
    const put = prepared(
      this.db,
      // The domain may have been deleted while its last events were on their way.
      `INSERT INTO countedName SELECT @domainId, @vendor, @event, @events, @lastDay
       WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
       ON CONFLICT DO UPDATE SET events = excluded.events, lastDay = excluded.lastDay`,
    )
    for (const name of kept) put.run(name)
    return () => this.mirror(kept, left)
  }

  /** Forgets what it holds in memory; asked for again, it is read again. */
  clear(): void {
    this.known.clear()
  }

  private mirror(kept: NamePlan['tracked'], left: NamePlan['evicted']): void {
    for (const name of left) this.known.get(name.domainId)?.delete(keyOf(name))
    for (const { domainId, vendor, event, events, lastDay } of kept) {
      this.known.get(domainId)?.set(keyOf({ vendor, event }), { vendor, events, lastDay })
    }
  }

  private placesOf(domainId: string): TrackedNamesByKey {
    const known = this.known.get(domainId)
    if (known) return known
    const rows = prepared<[string], TrackedName & { event: string }>(
      this.db,
      'SELECT vendor, event, events, lastDay FROM countedName WHERE domainId = ?',
    ).all(domainId)
    const places = new Map(rows.map(({ event, ...place }) => [keyOf({ ...place, event }), place]))
    this.known.set(domainId, places)
    return places
  }
}

/**
 * Which names that are not kept yet get a place, those with the most events first, and whose. A name gives its place away
 * from the next day on when it had fewer than 100 events, else 35 days after its last one.
 */
export function admitNames(
  places: TrackedNamesByKey,
  seen: readonly NameCount[],
): { entering: ReadonlySet<NameCount>; leaving: readonly string[] } {
  const strangers = seen.filter((name) => !places.has(keyOf(name)))
  const free = MAX_NAMES - places.size
  const leaving = strangers.length > free ? weakest(places, seen).slice(0, strangers.length - free) : []
  strangers.sort((a, b) => b.events - a.events || (keyOf(a) < keyOf(b) ? -1 : 1))
  return { entering: new Set(strangers.slice(0, free + leaving.length)), leaving }
}

/** Names that give their places away, those first that were not seen for longest. */
function weakest(places: TrackedNamesByKey, seen: readonly NameCount[]): string[] {
  const today = seen.reduce((last, { lastReceivedAt }) => Math.max(last, dayOf(lastReceivedAt)), 0)
  const present = new Set(seen.map(keyOf))
  return [...places]
    .filter(([key, { events, lastDay }]) => {
      const keptDays = events < ENOUGH ? 0 : KEPT_DAYS
      return lastDay + keptDays < today && !present.has(key)
    })
    .sort(([a, one], [b, other]) => one.lastDay - other.lastDay || one.events - other.events || (a < b ? -1 : 1))
    .map(([key]) => key)
}

/** What is known of a name with these events; null when it is nothing new, as of most names in most segments. */
function grown(place: TrackedName | undefined, name: NameCount): Omit<TrackedName, 'vendor'> | null {
  const events = Math.min(ENOUGH, (place?.events ?? 0) + name.events)
  const lastDay = Math.max(place?.lastDay ?? 0, dayOf(name.lastReceivedAt))
  return events === place?.events && lastDay === place.lastDay ? null : { events, lastDay }
}

const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS)

/** No name holds NUL. */
const keyOf = ({ vendor, event }: { vendor: string; event: string }) => `${vendor}\0${event}`

function nameOf(key: string): { vendor: string; event: string } {
  const at = key.indexOf('\0')
  return { vendor: key.slice(0, at), event: key.slice(at + 1) }
}
