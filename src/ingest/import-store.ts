import type { Instant } from '../core/clock.ts'
import { recordAge, recordHostUsage, recordSightings } from '../domains/record-sightings.ts'
import type { Db } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { type LedgerRecord, recordLedger, recordNamesFolded, recordUsage } from './record-segment.ts'
import type { SegmentContent } from './segment-counts.ts'

/** An imported file. */
export interface ImportedFile {
  /** SHA-256 of the decompressed content, in hexadecimal. */
  content: string
  /** Domain assigned to all events in the file; empty if each event specified its own. */
  domainId: string
  events: number
}

/** Time range of a domain's imported events. */
export interface ImportedSpan {
  domainId: string
  firstAt: Instant
  lastAt: Instant
}

/** True if a file with the same content was already imported for the same domain. */
export function isImported(db: Db, { content, domainId }: Omit<ImportedFile, 'events'>): boolean {
  return (
    db.prepare('SELECT 1 FROM importedFile WHERE content = ? AND domainId = ?').get(content, domainId) !== undefined
  )
}

/**
 * Records an import: usage, hostnames, vendors, the ledger, and the file itself. Runs in the transaction that adds the
 * imported events to the manifest, so that everything is counted exactly once.
 */
export function recordImport(
  db: Db,
  file: ImportedFile,
  {
    content,
    spans,
    notes,
  }: { content: SegmentContent; spans: readonly ImportedSpan[]; notes: readonly LedgerRecord[] },
  now: Instant,
): void {
  db.prepare('INSERT INTO importedFile VALUES (@content, @domainId, @events, @now)').run({ ...file, now })
  const span = db.prepare(
    `INSERT INTO importedSpan VALUES (@domainId, @firstAt, @lastAt) ON CONFLICT DO UPDATE SET
       firstAt = min(firstAt, excluded.firstAt), lastAt = max(lastAt, excluded.lastAt)`,
  )
  for (const one of spans) {
    span.run(one)
    recordAge(db, one)
  }
  recordLedger(db, notes)
  recordNamesFolded(db, content)
  recordSightings(db, content)
  recordHostUsage(db, content.counts)
  recordUsage(db, content.counts)
}

/** Deletes the records of files whose events have all expired, and those that belong to deleted domains. */
export function removeOldImports(db: Db, now: Instant): void {
  db.prepare(
    `DELETE FROM importedFile WHERE importedAt < ?
       OR (domainId <> '' AND domainId NOT IN (SELECT id FROM domain))`,
  ).run(now - RECORD_RETENTION_MS)
}

/** Latest `receivedAt` of an organization's imported events, by domain. */
export function importedUntil(db: Db, orgId: string): Map<string, Instant> {
  const rows = db
    .prepare<[string], { domainId: string; lastAt: Instant }>(
      'SELECT domainId, lastAt FROM importedSpan JOIN domain ON domain.id = domainId WHERE orgId = ?',
    )
    .all(orgId)
  return new Map(rows.map(({ domainId, lastAt }) => [domainId, lastAt]))
}

/** An organization's domains that have not sent any events since their history was imported. */
export function onlyImported(db: Db, orgId: string): Set<string> {
  const ids = db
    .prepare<[string], string>(
      `SELECT domainId FROM importedSpan JOIN domain ON domain.id = domainId
       WHERE orgId = ? AND ifnull(lastEventAt, 0) <= lastAt`,
    )
    .pluck()
    .all(orgId) as string[]
  return new Set(ids)
}
