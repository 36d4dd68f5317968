import type { Instant } from '../core/clock.ts'
import { recordHostUsage, recordSightings } from '../domains/sightings.ts'
import type { Db } from '../store/database.ts'
import { RECORDS_KEPT_MS } from '../store/retention.ts'
import type { BatchLog } from './batch-log.ts'
import type { BatchMemory } from './batch-memory.ts'
import type { FoldedNames, SegmentContent, SegmentCount } from './segment-count.ts'
import type { BatchRecord } from './segment-file.ts'

/**
 * Writes down what a segment brought beside its events: batches to recognise, usage, hostnames, the ledger. Inside
 * the transaction that adds the segment's file, so all of it counts exactly once. A segment that could not be loaded at
 * first comes after later ones, and takes back nothing that they said.
 */
export function recordSegment(
  db: Db,
  memory: BatchMemory,
  batches: BatchLog,
  { counts, vendors, folded = [] }: SegmentContent,
): void {
  memory.record(batches)
  recordLedger(db, [...batches.notable, ...folded.map(noteOf)])
  recordSightings(db, { counts, vendors })
  recordHostUsage(db, counts)
  recordUsage(db, counts)
}

/** What the ledger says of events whose names are too many. */
const noteOf = ({ events, lastReceivedAt, ...origin }: FoldedNames): Noted => ({
  ...origin,
  receivedAt: lastReceivedAt,
  ledger: [{ reason: 'counts: more names than are counted by themselves', count: events, sample: '' }],
})

type Noted = Pick<BatchRecord, 'orgId' | 'domainId' | 'receivedAt' | 'ledger'>

function recordLedger(db: Db, batches: readonly Noted[]): void {
  // The domain may have been deleted while its last batches were on their way.
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

function recordUsage(db: Db, counts: readonly SegmentCount[]): void {
  const usage = db.prepare(
    `INSERT INTO usage VALUES (@domainId, @orgId, @hour, @events)
     ON CONFLICT DO UPDATE SET events = events + excluded.events`,
  )
  for (const count of counts) usage.run(count)
}

/** Makes the usage of an hour at least this, where the domain is there. Doing it again changes nothing. */
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

/** By the hour it is kept as long as counts; of organizations that were deleted not at all. */
export function removeOldUsage(db: Db, now: Instant): void {
  db.prepare('DELETE FROM usage WHERE hour < ? OR orgId IN (SELECT orgId FROM deletedOrg)').run(now - RECORDS_KEPT_MS)
}

/** Entries of the ledger that were seen last so long ago. */
export function removeOldLedger(db: Db, now: Instant): void {
  db.prepare('DELETE FROM rejection WHERE lastSeenAt < ?').run(now - RECORDS_KEPT_MS)
}
