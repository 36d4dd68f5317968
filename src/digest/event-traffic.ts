import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { countsIn, sumsIn } from '../insights/count-series.ts'
import { namedTotalsQuery } from '../insights/scores.ts'
import { OTHER } from '../warehouse/relation-columns.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { DigestPeriod } from './digest-schedule.ts'

/** Total weight of one vendor event in one domain. */
export interface NameCount {
  domainId: string
  vendor: string
  event: string
  now: number
  /** The count in the same hours a week earlier; null if the domain was created after these hours began. */
  before: number | null
}

export interface Traffic {
  /** Most events first. */
  names: NameCount[]
  /** Names seen in the 24 hours but not in the preceding 7 days, in domains that had events in those 7 days. */
  fresh: NameCount[]
  /** Number of events by hour, oldest first. `before` is null unless it is known for all domains. */
  hours: { now: number[]; before: number[] | null }
}

type TotalRow = { domainId: string; vendor: string; event: string; weight: number }
const keyOf = ({ domainId, vendor, event }: Omit<TotalRow, 'weight'>) => `${domainId}\0${vendor}\0${event}`

/** Queries the counts for all domains of an organization. */
export async function trafficOf(
  history: History,
  orgId: string,
  domains: readonly WatchedDomain[],
  { window, before, days }: DigestPeriod,
): Promise<Traffic> {
  if (domains.length === 0) return { names: [], fresh: [], hours: { now: [], before: null } }
  const ids = domains.map(({ id }) => id)
  const totals = (span: DigestPeriod['window']) => history.query<TotalRow>(namedTotalsQuery(orgId, ids, span))
  const counted = countsIn(orgId, { domainIds: ids, vendors: [], event: null })
  const hourly = async (from: Instant) => {
    const buckets = Array.from({ length: 24 }, (_, n) => ({ start: from + n * HOUR_MS, end: from + (n + 1) * HOUR_MS }))
    return (await sumsIn(buckets, counted, history)).map(({ weight }) => weight)
  }
  const [rows, rowsBefore, rowsOfDays, hours, hoursBefore] = await Promise.all([
    totals(window),
    totals(before),
    totals(days),
    hourly(window.from),
    hourly(before.from),
  ] as const)
  const known = new Set(domains.filter(({ createdAt }) => createdAt <= before.from).map(({ id }) => id))
  const names = compared(rows, rowsBefore, known)
  return {
    names,
    fresh: freshOf(names, rowsOfDays),
    hours: { now: hours, before: sumOf(names).before === null ? null : hoursBefore },
  }
}

/** Joins current and earlier counts. `known`: domains that already existed a week earlier. */
function compared(rows: readonly TotalRow[], rowsBefore: readonly TotalRow[], known: ReadonlySet<string>): NameCount[] {
  const beforeOf = new Map(rowsBefore.map((row) => [keyOf(row), row.weight]))
  const nowOf = new Map(rows.map((row) => [keyOf(row), row.weight]))
  const gone = rowsBefore.filter((row) => !nowOf.has(keyOf(row)))
  return [...rows, ...gone.map((row) => ({ ...row, weight: 0 }))]
    .map((row) => {
      const { domainId, vendor, event, weight } = row
      const before = beforeOf.get(keyOf(row)) ?? (known.has(domainId) ? 0 : null)
      return { domainId, vendor, event, now: weight, before }
    })
    .toSorted((a, b) => b.now - a.now || (b.before ?? 0) - (a.before ?? 0) || (keyOf(a) < keyOf(b) ? -1 : 1))
}

function freshOf(names: readonly NameCount[], rowsOfDays: readonly TotalRow[]): NameCount[] {
  const seen = new Set(rowsOfDays.map(keyOf))
  const lived = new Set(rowsOfDays.map(({ domainId }) => domainId))
  return names.filter(
    (name) => name.now > 0 && name.event !== OTHER && lived.has(name.domainId) && !seen.has(keyOf(name)),
  )
}

/**
 * Change in a count. `share`: change relative to the earlier count, at least -1; null if the earlier count is zero or
 * unknown.
 */
export interface Move {
  kind: 'rise' | 'fall' | 'new' | 'stopped' | 'same' | 'unknown'
  share: number | null
}

export function moveOf(now: number, before: number | null): Move {
  if (before === null) return { kind: 'unknown', share: null }
  if (before === 0) return now === 0 ? { kind: 'same', share: null } : { kind: 'new', share: null }
  if (now === 0) return { kind: 'stopped', share: -1 }
  const share = now / before - 1
  return { kind: Math.abs(share) < 0.005 ? 'same' : share > 0 ? 'rise' : 'fall', share }
}

/** Thresholds for a notable change: minimum number of events in either period, and minimum relative change. */
const MIN_EVENTS = 20
const MIN_SHARE = 0.2
/**
 * Minimum significance in standard deviations. The difference of counts of independent events has a standard deviation
 * of the square root of their sum.
 */
const MIN_DEVIATIONS = 4

/** Significance of a change in standard deviations; 0 if unknown. */
export const surenessOf = (now: number, before: number | null): number =>
  before === null || now + before === 0 ? 0 : Math.abs(now - before) / Math.sqrt(now + before)

export function isNotable(now: number, before: number | null): boolean {
  if (before === null || Math.max(now, before) < MIN_EVENTS) return false
  const { share } = moveOf(now, before)
  return (share === null || Math.abs(share) >= MIN_SHARE) && surenessOf(now, before) > MIN_DEVIATIONS
}

/** Total counts of several names. */
export interface Sum {
  now: number
  before: number | null
}

/** Adds up counts. `before` is null if it is unknown for any of the names. */
export function sumOf(names: readonly Pick<NameCount, 'now' | 'before'>[]): Sum {
  const isKnown = names.length > 0 && names.every(({ before }) => before !== null)
  return {
    now: names.reduce((sum, { now }) => sum + now, 0),
    before: isKnown ? names.reduce((sum, { before }) => sum + (before ?? 0), 0) : null,
  }
}
