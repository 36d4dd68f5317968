import { HOUR_MS, type Instant } from '../../core/clock.ts'
import type { FoldedNames, SegmentCount } from '../../ingest/segment-counts.ts'
import {
  MAX_NAMES,
  type NameCount,
  type NameOverflow,
  type NamePlan,
  type TrackedNames,
} from './counted-event-names.ts'
import { quoteText } from './duckdb-dialect.ts'

/** A row returned by `profileOf`. */
export interface ProfileRow {
  orgId: string
  domainId: string
  host: string | null
  hour: Instant
  events: number
  firstReceivedAt: Instant
  lastReceivedAt: Instant
  maxSeq: number
  /** Version in the last production event that has one, and that event's `seq`; null if there is none. */
  lastVersion: number | null
  versionSeq: number | null
}

/**
 * Maximum number of hosts per domain and hour. Hosts beyond this limit are probably fabricated, and their events are
 * counted without a host.
 */
const MAX_HOSTS = 1000

/** SQL that profiles a new file in one pass, except for its names. */
export function profileOf(events: string): string {
  return `SELECT orgId, domainId, CASE WHEN place <= ${MAX_HOSTS} THEN host END AS host, hour, sum(events)::BIGINT AS events,
      min(firstReceivedAt) AS firstReceivedAt, max(lastReceivedAt) AS lastReceivedAt, max(maxSeq) AS maxSeq,
      arg_max(lastVersion, versionSeq) AS lastVersion, max(versionSeq) AS versionSeq
    FROM (
      SELECT *, row_number() OVER (PARTITION BY domainId, hour ORDER BY events DESC, host) AS place
      FROM (
        SELECT orgId, domainId, host, receivedAt // ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS events,
          min(receivedAt) AS firstReceivedAt, max(receivedAt) AS lastReceivedAt, max(seq) AS maxSeq,
          arg_max(version, seq) FILTER (env = 'prod') AS lastVersion,
          max(seq) FILTER (env = 'prod' AND version IS NOT NULL) AS versionSeq
        FROM ${events} GROUP BY ALL
      )
    ) GROUP BY ALL`
}

const NAMES = 'domainId, vendor, event, count(*) AS events, max(receivedAt) AS lastReceivedAt'

/** Maximum number of candidate names per domain. Includes every name that could get a slot. */
const MAX_CANDIDATES = 2 * MAX_NAMES

/** A name in a file, with the number of names in its domain. */
type NameRow = NameCount & { names: number }

/** Decides how the events in a new file are counted. `run` executes SQL. */
export async function nameEvents(
  run: <T>(sql: string) => Promise<T[]>,
  names: TrackedNames,
  events: string,
): Promise<NamePlan> {
  const found = await run<NameRow>(namesOf(events))
  const cutOff = found.filter(({ names }) => names > MAX_CANDIDATES)
  const domainIds = new Set(cutOff.map(({ domainId }) => domainId))
  const given = new Set(cutOff.map(nameKey))
  const missing = [...domainIds].flatMap((domainId) => names.of(domainId)).filter((name) => !given.has(nameKey(name)))
  const more = missing.length > 0 ? await run<NameCount>(namesAmong(events, missing)) : []
  return names.plan([...found, ...more], domainIds)
}

/**
 * SQL that selects the names in a new file. For a domain with more than `MAX_CANDIDATES` names, it selects those with
 * the most events.
 */
function namesOf(events: string): string {
  return `SELECT * EXCLUDE (place) FROM (
      SELECT *, count(*) OVER (PARTITION BY domainId) AS names,
        row_number() OVER (PARTITION BY domainId ORDER BY events DESC, vendor, event) AS place
      FROM (SELECT ${NAMES} FROM ${events} GROUP BY ALL)
    ) WHERE place <= ${MAX_CANDIDATES}`
}

type Name = Pick<NameCount, 'domainId' | 'vendor' | 'event'>

/** SQL that selects these names in a new file. `names` must not be empty. */
function namesAmong(events: string, names: readonly Name[]): string {
  const values = names.map((name) => `(${[name.domainId, name.vendor, name.event].map(quoteText).join(', ')})`)
  return `SELECT ${NAMES} FROM ${events} WHERE (domainId, vendor, event) IN (VALUES ${values.join(', ')}) GROUP BY ALL`
}

const nameKey = ({ domainId, vendor, event }: Name) => JSON.stringify([domainId, vendor, event])

/** Number of events with untracked names, for each domain that has too many names. */
export function foldedIn(counts: readonly SegmentCount[], crowds: readonly NameOverflow[]): FoldedNames[] {
  return crowds.flatMap(({ domainId, names }) => {
    const own = counts.filter((count) => count.domainId === domainId)
    const [first] = own
    const all = own.reduce((sum, { events }) => sum + events, 0)
    const events = names.reduce((left, name) => left - name.events, all)
    const lastReceivedAt = own.reduce((last, count) => Math.max(last, count.lastReceivedAt), 0)
    return first && events > 0 ? [{ orgId: first.orgId, domainId, events, lastReceivedAt }] : []
  })
}

/** Counts from a profile. The counts with the latest version are last. */
export function countsFrom(rows: readonly ProfileRow[]): SegmentCount[] {
  return rows
    .toSorted((a, b) => (a.versionSeq ?? 0) - (b.versionSeq ?? 0))
    .map(({ firstReceivedAt, maxSeq, versionSeq, ...count }) => count)
}

/** Value ranges of a profile. `orgId` is null if there are several organizations. */
export function spanOf(rows: readonly ProfileRow[]) {
  const [first] = rows
  if (!first) throw new Error('a file without events has no span')
  let [minReceivedAt, maxReceivedAt, maxSeq] = [first.firstReceivedAt, first.lastReceivedAt, first.maxSeq]
  for (const row of rows) {
    minReceivedAt = Math.min(minReceivedAt, row.firstReceivedAt)
    maxReceivedAt = Math.max(maxReceivedAt, row.lastReceivedAt)
    maxSeq = Math.max(maxSeq, row.maxSeq)
  }
  const orgId = rows.every((row) => row.orgId === first.orgId) ? first.orgId : null
  return { orgId, minReceivedAt, maxReceivedAt, maxSeq }
}
