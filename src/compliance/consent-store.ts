import { DAY_MS, type Instant } from '../core/clock.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS, type Retention } from '../store/retention.ts'
import { CONSENT_KEY, type ConsentKind } from './compliance-finding.ts'
import type { ChoiceRow } from './consent-queries.ts'
import type { HourCount } from './consent-update-rate.ts'

/** Ends of the periods in which requests were checked and sessions were counted; 0 before the first check. */
export interface ConsentCursor {
  requestsTo: Instant
  hoursTo: Instant
}

export function consentCursor(db: Db): ConsentCursor {
  const find = prepared<[], ConsentCursor>(db, 'SELECT requestsTo, hoursTo FROM consentCursor')
  return find.get() ?? { requestsTo: 0, hoursTo: 0 }
}

export function moveConsentCursor(db: Db, cursor: ConsentCursor): void {
  prepared(db, 'INSERT OR REPLACE INTO consentCursor VALUES (1, @requestsTo, @hoursTo)').run(cursor)
}

/**
 * Resets the counts, so that the next check counts all stored events again. Needed after an import, because imported
 * events precede the cursor. Decisions about findings remain.
 */
export function resetConsentCounts(db: Db): void {
  tx(db, () => {
    for (const table of ['consentCursor', 'consentDay', 'consentHour']) db.prepare(`DELETE FROM ${table}`).run()
    db.prepare(`UPDATE finding SET count = 0, formed = 0 WHERE key = '${CONSENT_KEY}'`).run()
  })
}

/** Number of requests to one vendor from one domain on one day. An empty `kind` stands for all requests. */
export interface DayCount {
  domainId: string
  vendor: string
  day: Instant
  kind: ConsentKind | ''
  count: number
}

/** Adds to the count for a day and returns the new total. For a deleted domain, returns the added `count`. */
export function addToDay(db: Db, added: DayCount): number {
  const add = prepared<[object], { count: number }>(
    db,
    `INSERT INTO consentDay SELECT @domainId, @vendor, @day, @kind, @count
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
     ON CONFLICT DO UPDATE SET count = count + excluded.count RETURNING count`,
  )
  return add.get(added)?.count ?? added.count
}

/**
 * Returns whether the vendor's requests from the domain were checked on an earlier UTC day than that of the instant.
 */
export function isConsentKnownBefore(
  db: Db,
  { domainId, vendor }: { domainId: string; vendor: string },
  instant: Instant,
): boolean {
  const find = prepared<[string, string, Instant], object>(
    db,
    `SELECT 1 FROM consentDay WHERE domainId = ? AND vendor = ? AND kind = '' AND day < ? LIMIT 1`,
  )
  return find.get(domainId, vendor, Math.floor(instant / DAY_MS) * DAY_MS) !== undefined
}

/** Returns the time at which the finding was first seen; null when it is new. */
export function firstSeenAt(db: Db, { orgId, vendor, kind }: { orgId: string; vendor: string; kind: ConsentKind }) {
  const find = prepared<[string, string, string], { firstSeenAt: Instant }>(
    db,
    `SELECT firstSeenAt FROM finding WHERE orgId = ? AND vendor = ? AND kind = ? AND key = '${CONSENT_KEY}'`,
  )
  return find.get(orgId, vendor, kind)?.firstSeenAt ?? null
}

/** Stores the number of sessions that began in each hour. Replaces earlier counts. */
export function putHours(db: Db, rows: readonly ChoiceRow[]): void {
  const put = prepared(
    db,
    `INSERT OR REPLACE INTO consentHour SELECT @domainId, @hour, @vendor, @sessions, @chosen
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)`,
  )
  for (const row of rows) put.run(row)
}

/** A domain and its counted hours. The key is the start of the hour. */
export interface CountedDomain {
  orgId: string
  domainId: string
  hours: Map<Instant, HourCount>
}

/** Returns the hours counted with `from <= start < to`, by domain. */
export function hoursBetween(db: Db, from: Instant, to: Instant): CountedDomain[] {
  const rows = prepared<[Instant, Instant], HourCount & { orgId: string; domainId: string; hour: Instant }>(
    db,
    `SELECT orgId, domainId, hour, vendor, sessions, chosen FROM consentHour JOIN domain ON domain.id = domainId
     WHERE hour >= ? AND hour < ? ORDER BY domainId, hour`,
  ).all(from, to)
  return [...Map.groupBy(rows, ({ domainId }) => domainId)].map(([domainId, own]) => ({
    orgId: own[0]?.orgId ?? '',
    domainId,
    hours: new Map(own.map(({ hour, vendor, sessions, chosen }) => [hour, { vendor, sessions, chosen }])),
  }))
}

/** Deletes counts older than the retention period. */
export const removeOldConsentCounts: Retention = (db, now) => {
  db.prepare('DELETE FROM consentDay WHERE day < ?').run(now - RECORD_RETENTION_MS - DAY_MS)
  db.prepare('DELETE FROM consentHour WHERE hour < ?').run(now - RECORD_RETENTION_MS)
}
