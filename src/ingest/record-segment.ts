import type { Instant } from '../core/clock.ts'
import { recordHostUsage, recordSightings } from '../domains/record-sightings.ts'
import type { Db } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import type { SeenBatches } from './seen-batches.ts'
import type { BatchLog } from './segment-batches.ts'
import type { FoldedNames, SegmentContent, SegmentCount } from './segment-counts.ts'
import type { BatchRecord } from './segment-file.ts'

/**
 * Records the batches, usage, hostnames and ledger entries of a segment. Runs in the transaction that adds the
 * segment's file to the manifest, so that everything is counted exactly once. A segment that is loaded late does not
 * overwrite newer values from later segments.
 */
export function recordSegment(db: Db, memory: SeenBatches, batches: BatchLog, content: SegmentContent): void {
  memory.record(batches)
  recordContent(db, batches.notable, content)
}

/** Records everything about a segment except its batches, in the caller's transaction. */
export function recordContent(db: Db, ledger: readonly LedgerRecord[], content: SegmentContent): void {
  recordLedger(db, ledger)
  recordNamesFolded(db, content)
  recordSightings(db, content)
  recordHostUsage(db, content.counts)
  recordUsage(db, content.counts)
}

/** Records in the ledger the number of events whose names are not tracked. */
export function recordNamesFolded(db: Db, { folded = [] }: SegmentContent): void {
  recordLedger(db, folded.map(noteOf))
}

/** Returns the ledger entry for events whose names exceed the limit. */
const noteOf = ({ events, lastReceivedAt, ...origin }: FoldedNames): LedgerRecord => ({
  ...origin,
  receivedAt: lastReceivedAt,
  ledger: [{ reason: 'counts: too many names to count separately', count: events, sample: '' }],
})

/** Entries for a domain's ledger. */
export type LedgerRecord = Pick<BatchRecord, 'orgId' | 'domainId' | 'receivedAt' | 'ledger'>

export function recordLedger(db: Db, batches: readonly LedgerRecord[]): void {
  // The domain may have been deleted before its last batches were loaded.
  const note = db.prepare(
    `INSERT INTO rejection (domainId, orgId, reason, count, sample, firstSeenAt, lastSeenAt)
     SELECT @domainId, @orgId, @reason, @count, @sample, @receivedAt, @receivedAt
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
     ON CONFLICT DO UPDATE SET count = count + excluded.count,
       sample = iif(excluded.lastSeenAt >= lastSeenAt, excluded.sample, sample),
       firstSeenAt = min(firstSeenAt, excluded.firstSeenAt), lastSeenAt = max(lastSeenAt, excluded.lastSeenAt)`,
  )
  for (const { orgId, domainId, receivedAt, ledger } of batches) {
    for (const { reason, count, sample } of ledger) note.run({ orgId, domainId, receivedAt, reason, count, sample })
  }
}

/** Adds events to the hourly usage of domains. */
export function recordUsage(db: Db, counts: readonly SegmentCount[]): void {
  const usage = db.prepare(
    `INSERT INTO usage VALUES (@domainId, @orgId, @hour, @events)
     ON CONFLICT DO UPDATE SET events = events + excluded.events`,
  )
  for (const count of counts) usage.run(count)
}

/** Raises the recorded usage for an hour to at least this value, if the domain exists. Idempotent. */
export function raiseUsage(
  db: Db,
  hours: readonly { orgId: string; domainId: string; hour: Instant; events: number }[],
): void {
  const raise = db.prepare(
    `INSERT INTO usage SELECT @domainId, @orgId, @hour, @events
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId AND orgId = @orgId)
     ON CONFLICT DO UPDATE SET events = excluded.events WHERE excluded.events > events`,
  )
  for (const hour of hours) raise.run(hour)
}

/** Deletes hourly usage that has expired or belongs to deleted organizations. */
export function removeOldUsage(db: Db, now: Instant): void {
  db.prepare('DELETE FROM usage WHERE hour < ? OR orgId IN (SELECT orgId FROM deletedOrg)').run(
    now - RECORD_RETENTION_MS,
  )
}

/** Deletes ledger entries last seen before the retention period. */
export function removeOldLedger(db: Db, now: Instant): void {
  db.prepare('DELETE FROM rejection WHERE lastSeenAt < ?').run(now - RECORD_RETENTION_MS)
}
