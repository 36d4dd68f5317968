import { join } from 'node:path'
import type { Instant } from '../core/clock.ts'
import { removeOldHostUsage } from '../domains/sightings.ts'
import { forgetBatches } from '../ingest/batch-memory.ts'
import { removeOldLedger, removeOldUsage } from '../ingest/store.ts'
import { removeOldDeliveries } from '../integrations/delivery-log.ts'
import { removeOldHistory } from '../issues/store.ts'
import { removeOldAuditEntries } from '../org/audit-log.ts'
import { deletedOrgs } from '../org/store.ts'
import { removeOldGaps } from '../signals/gap-store.ts'
import { removeOldClockSteps } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import { RECORDS_KEPT_MS, type Retention } from '../store/retention.ts'
import type { EventFile, Manifest, ManifestFile, PageFile, RollupFile } from '../warehouse/duckdb/manifest.ts'
import type { DuckdbWarehouse } from '../warehouse/duckdb/warehouse.ts'

/** What each room keeps no longer. */
const RETENTIONS: readonly Retention[] = [
  removeOldHostUsage,
  removeOldUsage,
  removeOldLedger,
  removeOldDeliveries,
  removeOldHistory,
  removeOldAuditEntries,
  removeOldGaps,
  removeOldClockSteps,
]

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
  const deleted = deletedOrgs(db)
  const isExpired = (file: EventFile | PageFile) =>
    file.maxReceivedAt < now - retentionMs || (file.orgId !== null && deleted.has(file.orgId))
  const expired = manifest.files().filter(isExpired)
  if (expired.length > 0) {
    manifest.swap(expired, [])
    await warehouse.remove(expired.map((file) => join(folder, file.path)))
  }
  const isOver = (file: RollupFile) =>
    file.maxMinute < now - RECORDS_KEPT_MS || (file.orgId !== null && deleted.has(file.orgId))
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
  tx(db, () => {
    for (const remove of RETENTIONS) remove(db, now)
  })
  manifest.names.clear()
  // Bit by bit: the collector's answers would wait for the whole.
  while (tx(db, () => forgetBatches(db, now)) !== null) await new Promise(setImmediate)
}
