import { DAY_MS, type Instant } from '../core/clock.ts'
import { type Db, prepared } from '../store/database.ts'

/**
 * The number of events that a domain received from one hostname in one hour. Events from apps and servers have no
 * hostname.
 */
export interface HostSighting {
  domainId: string
  host: string | null
  hour: Instant
  events: number
  lastReceivedAt: Instant
  /** The version in the most recent production event that had one. */
  lastVersion: number | null
}

/** A vendor in a domain, and the time at which the vendor's most recent event was received. */
export interface VendorSighting {
  domainId: string
  vendor: string
  lastReceivedAt: Instant
}

/** Maximum number of vendors per domain. Anyone with the domain's token can invent vendors. */
const MAX_VENDORS = 1000

/** Maximum number of hostnames per domain. The token is public in browsers, so anyone can invent hostnames. */
const MAX_HOSTNAMES = 1000

/**
 * Records the versions, hostnames and vendors seen in domains. Idempotent. Data that is recorded late does not
 * overwrite newer data. Deleted domains are skipped.
 */
export function recordSightings(
  db: Db,
  { counts, vendors }: { counts: readonly HostSighting[]; vendors: readonly VendorSighting[] },
): void {
  recordHosts(db, counts)
  recordVendors(db, vendors)
}

function recordVendors(db: Db, vendors: readonly VendorSighting[]): void {
  const seen = db.prepare(
    `INSERT INTO domainVendor SELECT @domainId, @vendor, @lastReceivedAt
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
       AND (EXISTS (SELECT 1 FROM domainVendor WHERE domainId = @domainId AND vendor = @vendor)
         OR (SELECT count(*) FROM domainVendor WHERE domainId = @domainId) < ${MAX_VENDORS})
     ON CONFLICT DO UPDATE SET lastSeenAt = max(lastSeenAt, excluded.lastSeenAt)`,
  )
  for (const vendor of vendors) seen.run(vendor)
}

function recordHosts(db: Db, counts: readonly HostSighting[]): void {
  const domain = db.prepare(
    `UPDATE domain SET lastEventAt = max(ifnull(lastEventAt, 0), @lastReceivedAt),
       prodVersion = iif(@lastVersion IS NULL OR ifnull(lastEventAt, 0) > @until, prodVersion, @lastVersion)
     WHERE id = @domainId`,
  )
  const hostname = db.prepare(
    `INSERT INTO hostname SELECT @domainId, @host, 'unreviewed', @lastReceivedAt, @lastReceivedAt
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
       AND (EXISTS (SELECT 1 FROM hostname WHERE domainId = @domainId AND hostname = @host)
         OR (SELECT count(*) FROM hostname WHERE domainId = @domainId) < ${MAX_HOSTNAMES})
     ON CONFLICT DO UPDATE SET lastSeenAt = max(ifnull(lastSeenAt, 0), excluded.lastSeenAt),
       firstSeenAt = min(ifnull(firstSeenAt, excluded.firstSeenAt), excluded.firstSeenAt)`,
  )
  const until = counts.reduce((latest, { lastReceivedAt }) => Math.max(latest, lastReceivedAt), 0)
  for (const count of counts) {
    domain.run({ ...count, until })
    if (count.host !== null) hostname.run(count)
  }
}

/**
 * Returns the time at which the most recent recorded event of an organization was received; null when there is none.
 */
export function lastEventAt(db: Db, orgId: string): Instant | null {
  return (
    prepared<[string], { at: Instant | null }>(db, 'SELECT max(lastEventAt) AS at FROM domain WHERE orgId = ?').get(
      orgId,
    )?.at ?? null
  )
}

/** Records that a domain has received its first event. Has no effect if it has received events before. */
export function recordFirstEvent(db: Db, domainId: string, receivedAt: Instant): void {
  prepared(db, 'UPDATE domain SET lastEventAt = ? WHERE id = ? AND lastEventAt IS NULL').run(receivedAt, domainId)
}

/** Adds to the hourly event counts of hostnames. The hostnames must already have been recorded. */
export function recordHostUsage(db: Db, counts: readonly HostSighting[]): void {
  const add = db.prepare(
    `INSERT INTO hostnameUsage SELECT domainId, hostname, @hour, @events FROM hostname
     WHERE domainId = @domainId AND hostname = @host
     ON CONFLICT DO UPDATE SET events = events + excluded.events`,
  )
  for (const count of counts) if (count.host !== null) add.run(count)
}

/** Records the age of a domain, which is the time of its oldest event. */
export function recordAge(db: Db, { domainId, firstAt }: { domainId: string; firstAt: Instant }): void {
  db.prepare('UPDATE domain SET createdAt = min(createdAt, ?) WHERE id = ?').run(firstAt, domainId)
}

/** Deletes hourly counts older than two days. Only the counts of the last day are displayed. */
export function removeOldHostUsage(db: Db, now: Instant): void {
  db.prepare('DELETE FROM hostnameUsage WHERE hour < ?').run(now - 2 * DAY_MS)
}
