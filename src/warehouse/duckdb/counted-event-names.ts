import { DAY_MS, type Instant } from '../../core/clock.ts'
import type { VendorSighting } from '../../domains/record-sightings.ts'
import { type Db, prepared } from '../../store/database.ts'

/**
 * Maximum number of names (vendor and event) per domain that are counted separately. Tokens used in browsers are
 * public, so anyone can make up names.
 */
export const MAX_NAMES = 1000
/** A name with this many events is considered established. */
const ESTABLISHED_EVENTS = 100
/**
 * Number of days for which an established name keeps its slot after its last event. Longer than the time after which a
 * signal without traffic is dropped.
 */
const RETENTION_DAYS = 35

/** Number of a name's events in one segment. */
export interface NameCount {
  domainId: string
  vendor: string
  event: string
  events: number
  lastReceivedAt: Instant
}

/** A name that is counted separately. */
interface TrackedName {
  vendor: string
  /** Number of the name's events, counted only up to `MIN_WEEKLY_EVENTS`. */
  events: number
  /** UTC day of the name's last event, in days since 1970-01-01. */
  lastDay: number
}

/** Keyed by `keyOf`. */
type TrackedNamesByKey = ReadonlyMap<string, TrackedName>

/** Names to count separately in one segment, for a domain that has too many names. */
export interface NameOverflow {
  domainId: string
  /** Names in the segment. */
  names: readonly NameCount[]
  /** Vendors that have a tracked name. */
  vendors: readonly string[]
}

/**
 * Decides which of a segment's names are counted separately, and contains the resulting changes to the tracked names.
 */
export interface NamePlan {
  /** Empty when every name is counted separately. */
  overflows: readonly NameOverflow[]
  /** Vendors that have tracked names. */
  vendors: readonly VendorSighting[]
  /** New and updated names. */
  tracked: readonly (Omit<NameCount, 'lastReceivedAt'> & { lastDay: number })[]
  /** Names that lost their slot. */
  evicted: readonly Pick<NameCount, 'domainId' | 'vendor' | 'event'>[]
}

/** Stores changes to the tracked names, in the caller's transaction. */
export function writeNames(db: Db, { tracked, evicted }: Pick<NamePlan, 'tracked' | 'evicted'>): void {
  const remove = prepared(db, 'DELETE FROM countedName WHERE domainId = ? AND vendor = ? AND event = ?')
  for (const { domainId, vendor, event } of evicted) remove.run(domainId, vendor, event)
  const put = prepared(
    db,
    // The domain may have been deleted before its last events were loaded.
    `INSERT INTO countedName SELECT @domainId, @vendor, @event, @events, @lastDay
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
     ON CONFLICT DO UPDATE SET events = max(events, excluded.events), lastDay = max(lastDay, excluded.lastDay)`,
  )
  for (const name of tracked) put.run(name)
}

/**
 * Names that are counted separately. Stored in SQLite, so that changes are part of the transaction that adds a segment.
 * Cached in memory.
 */
export class TrackedNames {
  /** Keyed by domain. Contains recently active domains only. */
  private readonly cache = new Map<string, Map<string, TrackedName>>()

  constructor(private readonly db: Db) {}

  /** Tracked names of a domain; at most `MAX_NAMES`. */
  of(domainId: string): Pick<NameCount, 'domainId' | 'vendor' | 'event'>[] {
    return [...this.namesOf(domainId).keys()].map((key) => ({ domainId, ...nameOf(key) }))
  }

  /**
   * Decides how the names in one segment are counted. `cutOff`: domains that have more names in the segment than `seen`
   * contains. For these domains, `seen` has all tracked names, plus the untracked names with the most events.
   */
  plan(seen: readonly NameCount[], cutOff: ReadonlySet<string>): NamePlan {
    const plan = {
      overflows: [] as NameOverflow[],
      vendors: [] as VendorSighting[],
      tracked: [] as NamePlan['tracked'][number][],
    }
    const evicted: NamePlan['evicted'][number][] = []
    for (const [domainId, names] of Map.groupBy(seen, (name) => name.domainId)) {
      const known = this.namesOf(domainId)
      const { entering, leaving } = admitNames(known, names)
      const isTracked = (name: NameCount) => known.has(keyOf(name)) || entering.has(name)
      const own = names.filter(isTracked)
      for (const key of leaving) evicted.push({ domainId, ...nameOf(key) })
      for (const name of own) {
        const entry = updatedEntry(known.get(keyOf(name)), name)
        if (entry) plan.tracked.push({ domainId, vendor: name.vendor, event: name.event, ...entry })
      }
      if (own.length < names.length || cutOff.has(domainId)) {
        const vendors = new Set([...known.values(), ...own].map(({ vendor }) => vendor))
        plan.overflows.push({ domainId, names: own, vendors: [...vendors] })
      }
      for (const [vendor, ofVendor] of Map.groupBy(own, (name) => name.vendor)) {
        const lastReceivedAt = ofVendor.reduce((last, name) => Math.max(last, name.lastReceivedAt), 0)
        plan.vendors.push({ domainId, vendor, lastReceivedAt })
      }
    }
    return { ...plan, evicted }
  }

  /** Stores a plan in the caller's transaction. The returned function updates the cache; call it after the commit. */
  write({ tracked, evicted }: NamePlan): () => void {
    writeNames(this.db, { tracked, evicted })
    return () => this.mirror(tracked, evicted)
  }

  /** Clears the cache. */
  clear(): void {
    this.cache.clear()
  }

  private mirror(tracked: NamePlan['tracked'], evicted: NamePlan['evicted']): void {
    for (const name of evicted) this.cache.get(name.domainId)?.delete(keyOf(name))
    for (const { domainId, vendor, event, events, lastDay } of tracked) {
      this.cache.get(domainId)?.set(keyOf({ vendor, event }), { vendor, events, lastDay })
    }
  }

  private namesOf(domainId: string): TrackedNamesByKey {
    const cached = this.cache.get(domainId)
    if (cached) return cached
    const rows = prepared<[string], TrackedName & { event: string }>(
      this.db,
      'SELECT vendor, event, events, lastDay FROM countedName WHERE domainId = ?',
    ).all(domainId)
    const names = new Map(rows.map(({ event, ...place }) => [keyOf({ ...place, event }), place]))
    this.cache.set(domainId, names)
    return names
  }
}

/**
 * Decides which new names get a slot and which names lose their slot. New names with the most events come first. A name
 * with fewer than 100 events may lose its slot on the next day; any other name may lose it 35 days after its last
 * event.
 */
export function admitNames(
  names: TrackedNamesByKey,
  seen: readonly NameCount[],
): { entering: ReadonlySet<NameCount>; leaving: readonly string[] } {
  const candidates = seen.filter((name) => !names.has(keyOf(name)))
  const free = MAX_NAMES - names.size
  const leaving = candidates.length > free ? weakest(names, seen).slice(0, candidates.length - free) : []
  candidates.sort((a, b) => b.events - a.events || (keyOf(a) < keyOf(b) ? -1 : 1))
  return { entering: new Set(candidates.slice(0, free + leaving.length)), leaving }
}

/** Names that may lose their slot, starting with the name whose last event is the oldest. */
function weakest(names: TrackedNamesByKey, seen: readonly NameCount[]): string[] {
  const today = seen.reduce((last, { lastReceivedAt }) => Math.max(last, dayOf(lastReceivedAt)), 0)
  const present = new Set(seen.map(keyOf))
  return [...names]
    .filter(([key, { events, lastDay }]) => {
      const retentionDays = events < ESTABLISHED_EVENTS ? 0 : RETENTION_DAYS
      return lastDay + retentionDays < today && !present.has(key)
    })
    .sort(([a, one], [b, other]) => one.lastDay - other.lastDay || one.events - other.events || (a < b ? -1 : 1))
    .map(([key]) => key)
}

/** Returns the updated entry for a name. Null if nothing changed, as for most names in most segments. */
function updatedEntry(entry: TrackedName | undefined, name: NameCount): Omit<TrackedName, 'vendor'> | null {
  const events = Math.min(ESTABLISHED_EVENTS, (entry?.events ?? 0) + name.events)
  const lastDay = Math.max(entry?.lastDay ?? 0, dayOf(name.lastReceivedAt))
  return events === entry?.events && lastDay === entry.lastDay ? null : { events, lastDay }
}

const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS)

/** Key of a name. Names never contain NUL. */
const keyOf = ({ vendor, event }: { vendor: string; event: string }) => `${vendor}\0${event}`

function nameOf(key: string): { vendor: string; event: string } {
  const at = key.indexOf('\0')
  return { vendor: key.slice(0, at), event: key.slice(at + 1) }
}
