import { join } from 'node:path'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { forgetBatches } from '../ingest/batch-memory.ts'
import { removeOldAuditEntries } from '../org/audit-log.ts'
import { removeOldGaps } from '../signals/gap-store.ts'
import { removeOldClockSteps } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import type { DuckdbWarehouse } from '../warehouse/duckdb.ts'
import type { EventFile, Manifest, ManifestFile, PageFile, RollupFile } from '../warehouse/manifest.ts'

/** Deliveries, history, counters and counts of events by the minute are kept this long. */
const RECORDS_MS = 400 * DAY_MS

export interface RetainParts {
  db: Db
  warehouse: DuckdbWarehouse
  manifest: Manifest
  folder: string
  /** The time by which it is judged what is too old. */
  agedAt(): Instant
  retentionMs: number
}

/** Drops what is older than it is to be kept or belonged to an organization that was deleted. */
export async function retain(parts: RetainParts): Promise<void> {
  const { db, warehouse, manifest, folder, retentionMs } = parts
  const now = parts.agedAt()
  const deleted = new Set(db.prepare<[], string>('SELECT orgId FROM deletedOrg').pluck().all())
  const isExpired = (file: EventFile | PageFile) =>
    file.maxReceivedAt < now - retentionMs || (file.orgId !== null && deleted.has(file.orgId))
  const expired = manifest.files().filter(isExpired)
  if (expired.length > 0) {
    manifest.swap(expired, [])
    await warehouse.remove(expired.map((file) => join(folder, file.path)))
  }
  const isOver = (file: RollupFile) =>
    file.maxMinute < now - RECORDS_MS || (file.orgId !== null && deleted.has(file.orgId))
  const counts = manifest.rollups().filter(isOver)
  if (counts.length > 0) {
    manifest.swapRollups(counts, [])
    await warehouse.remove(counts.map((file) => join(folder, file.path)))
  }
  const pages = manifest.pages().filter(isExpired)
  if (pages.length > 0) {
    manifest.swapPages(pages, [])
    await warehouse.remove(pages.map((file) => join(folder, file.path)))
  }
  const isPast = (file: ManifestFile) => ('minMinute' in file ? isOver(file) : isExpired(file))
  const damaged = manifest.damaged().flatMap(({ file }) => (isPast(file) ? [file] : []))
  if (damaged.length > 0) {
    manifest.forget(damaged)
    await warehouse.remove(damaged.map((file) => join(folder, file.path)))
  }
  forgetRecords(db, now)
  manifest.names.clear()
  // Bit by bit: the collector's answers would wait for the whole.
  while (tx(db, () => forgetBatches(db, now)) !== null) await new Promise(setImmediate)
}

function forgetRecords(db: Db, now: Instant): void {
  const before = now - RECORDS_MS
  tx(db, () => {
    db.prepare('DELETE FROM usage WHERE hour < ? OR orgId IN (SELECT orgId FROM deletedOrg)').run(before)
    db.prepare('DELETE FROM hostnameUsage WHERE hour < ?').run(now - 2 * DAY_MS)
    db.prepare('DELETE FROM rejection WHERE lastSeenAt < ?').run(before)
    db.prepare(`DELETE FROM delivery WHERE createdAt < ? AND status NOT IN ('pending', 'sending')`).run(before)
    db.prepare('DELETE FROM issueHistory WHERE createdAt < ?').run(before)
    removeOldAuditEntries(db, before)
    removeOldGaps(db, before)
    removeOldClockSteps(db, before)
  })
}
