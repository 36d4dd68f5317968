import { DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { BatchAnswer } from './batch.ts'
import type { BatchMemory } from './collector.ts'
import type { SegmentCount } from './segment-count.ts'
import type { BatchRecord } from './spool.ts'

/** A repeated batch is recognised for this long. */
const BATCH_MEMORY_MS = DAY_MS

/**
 * Writes down what a segment brought beside its events: batches to recognise, usage, hostnames, the ledger. Inside
 * the transaction that adds the segment's file, so all of it counts exactly once.
 */
export function recordSegment(db: Db, batches: readonly BatchRecord[], counts: readonly SegmentCount[]): void {
  recordBatches(db, batches)
  recordLedger(db, batches)
  recordCounts(db, counts)
}

interface BatchRow {
  key: string
  accepted: number
  refused: string | null
}

/** Remembers batches in the database, for lookups by the collector. */
export function batchMemory(db: Db): BatchMemory {
  const find = db.prepare<[number], BatchRow>('SELECT key, accepted, refused FROM batch WHERE hash = ?')
  return {
    answerOf(key) {
      const row = find.get(hashOf(key))
      if (!row || row.key !== key) return null
      const refused = row.refused === null ? NOTHING_REFUSED : (JSON.parse(row.refused) as typeof NOTHING_REFUSED)
      return { accepted: row.accepted, ...refused }
    },
  }
}

const NOTHING_REFUSED: Pick<BatchAnswer, 'rejected' | 'errors'> = { rejected: 0, errors: [] }

/** Old batches are looked for in one of so many parts of the table at a time: no call holds everything up. */
const PARTS = 64
const HASHES_A_PART = 2 ** 52 / PARTS

/** Drops batches older than the time in which a repeat is recognised, from one part of 64. Answers how many. */
export function forgetBatches(db: Db, now: Instant, part: number): number {
  const first = (part % PARTS) * HASHES_A_PART
  return db
    .prepare('DELETE FROM batch WHERE hash >= ? AND hash < ? AND receivedAt < ?')
    .run(first, first + HASHES_A_PART, now - BATCH_MEMORY_MS).changes
}

function hashOf(key: string): number {
  return Number(BigInt.asUintN(52, Bun.hash(key) as bigint))
}

function recordBatches(db: Db, batches: readonly BatchRecord[]): void {
  const insert = db.prepare('INSERT OR IGNORE INTO batch VALUES (?, ?, ?, ?, ?)')
  for (const { key, receivedAt, answer } of batches) {
    if (key === null) continue
    const { accepted, ...refused } = answer
    insert.run(hashOf(key), key, receivedAt, accepted, refused.rejected === 0 ? null : JSON.stringify(refused))
  }
}

function recordLedger(db: Db, batches: readonly BatchRecord[]): void {
  const note = db.prepare(
    `INSERT INTO rejection (domainId, orgId, reason, count, sample, firstSeenAt, lastSeenAt)
     VALUES (@domainId, @orgId, @reason, @count, @sample, @receivedAt, @receivedAt)
     ON CONFLICT DO UPDATE SET count = count + excluded.count, sample = excluded.sample, lastSeenAt = excluded.lastSeenAt`,
  )
  for (const { orgId, domainId, receivedAt, ledger } of batches) {
    for (const { reason, count, sample } of ledger) note.run({ orgId, domainId, receivedAt, reason, count, sample })
  }
}

function recordCounts(db: Db, counts: readonly SegmentCount[]): void {
  const usage = db.prepare(
    `INSERT INTO usage VALUES (@domainId, @orgId, @hour, @events)
     ON CONFLICT DO UPDATE SET events = events + excluded.events`,
  )
  const domain = db.prepare(
    `UPDATE domain SET lastEventAt = max(ifnull(lastEventAt, 0), @lastReceivedAt),
       prodVersion = ifnull(@lastVersion, prodVersion) WHERE id = @domainId`,
  )
  // The domain may have been deleted while its last events were on their way.
  const hostname = db.prepare(
    `INSERT INTO hostname SELECT @domainId, @host, 'unreviewed', @lastReceivedAt, @lastReceivedAt
     WHERE EXISTS (SELECT 1 FROM domain WHERE id = @domainId)
     ON CONFLICT DO UPDATE SET lastSeenAt = excluded.lastSeenAt, firstSeenAt = ifnull(firstSeenAt, excluded.firstSeenAt)`,
  )
  const hostnameUsage = db.prepare(
    `INSERT INTO hostnameUsage VALUES (@domainId, @host, @hour, @events)
     ON CONFLICT DO UPDATE SET events = events + excluded.events`,
  )
  for (const count of counts) {
    usage.run(count)
    domain.run(count)
    if (count.host === null) continue
    hostname.run(count)
    hostnameUsage.run(count)
  }
}
