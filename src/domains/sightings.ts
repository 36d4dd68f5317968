import { DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'

/** What came in of a domain from one hostname in one hour; without a hostname from apps and servers. */
export interface HostSighting {
  domainId: string
  host: string | null
  hour: Instant
  events: number
  lastReceivedAt: Instant
  /** Of the last production event that named one. */
  lastVersion: number | null
}

/** A vendor of a domain, and when its last event came in. */
export interface VendorSighting {
  domainId: string
  vendor: string
  lastReceivedAt: Instant
}

/** Whoever has the token can make vendors up: a domain keeps this many. */
const MAX_VENDORS = 1000

/** The token of a browser is public, so anybody can make hostnames up: a domain keeps this many. */
const MAX_HOSTNAMES = 1000

/**
 * Records what was seen of domains: versions, hostnames, vendors. Doing it again changes nothing. What comes late, behind
 * what was seen later, takes nothing of that back. A domain that is gone is passed over.
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

/** Adds to how many events each hostname had in an hour. Hostnames must be recorded before. */
export function recordHostUsage(db: Db, counts: readonly HostSighting[]): void {
  const add = db.prepare(
    `INSERT INTO hostnameUsage SELECT domainId, hostname, @hour, @events FROM hostname
     WHERE domainId = @domainId AND hostname = @host
     ON CONFLICT DO UPDATE SET events = events + excluded.events`,
  )
  for (const count of counts) if (count.host !== null) add.run(count)
}

/** It says how many events a hostname had in the last day; two are kept. */
export function removeOldHostUsage(db: Db, now: Instant): void {
  db.prepare('DELETE FROM hostnameUsage WHERE hour < ?').run(now - 2 * DAY_MS)
}
