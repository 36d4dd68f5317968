import type { Instant } from '../core/clock.ts'
import { recordAge, recordHostUsage, recordSightings } from '../domains/sightings.ts'
import type { Db } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { type LedgerRecord, recordLedger, recordNamesFolded, recordUsage } from './record-segment.ts'
import type { SegmentContent } from './segment-content.ts'

/** A file whose events were taken in. */
export interface ImportedFile {
  /** SHA-256 of its content as hexadecimal digits; of a packed file, of what is in it. */
  content: string
  /** The domain that was named for all of its events; empty: each named its own. */
  domainId: string
  events: number
}

/** From when to when a domain's imported events were received. */
export interface ImportedSpan {
  domainId: string
  firstAt: Instant
  lastAt: Instant
}

/** True when a file of the same content was imported for the same domain. */
export function isImported(db: Db, { content, domainId }: Omit<ImportedFile, 'events'>): boolean {
  return (
    db.prepare('SELECT 1 FROM importedFile WHERE content = ? AND domainId = ?').get(content, domainId) !== undefined
  )
}

/**
 * Records what a file of events of before held: usage, hostnames, vendors, the ledger, and that it was imported. Runs inside
 * the transaction that lists its events, so all of it counts exactly once.
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

/** Forgets files that were imported so long ago that all of their events are gone, and those of deleted domains. */
export function removeOldImports(db: Db, now: Instant): void {
  db.prepare(
    `DELETE FROM importedFile WHERE importedAt < ?
       OR (domainId <> '' AND domainId NOT IN (SELECT id FROM domain))`,
  ).run(now - RECORD_RETENTION_MS)
}

/** When the last of the imported events of each of an organization's domains was received. */
export function importedUntil(db: Db, orgId: string): Map<string, Instant> {
  const rows = db
    .prepare<[string], { domainId: string; lastAt: Instant }>(
      'SELECT domainId, lastAt FROM importedSpan JOIN domain ON domain.id = domainId WHERE orgId = ?',
    )
    .all(orgId)
  return new Map(rows.map(({ domainId, lastAt }) => [domainId, lastAt]))
}

/** An organization's domains that have sent nothing since their history was imported: nobody knows yet whether they will. */
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
