import { removeOldAudits } from '../audits/store.ts'
import { removeOldChanges } from '../changes/store.ts'
import { removeOldConsentCounts } from '../compliance/consent-store.ts'
import { removeOldFindings } from '../compliance/store.ts'
import type { Instant } from '../core/clock.ts'
import { removeOldDigests } from '../digest/store.ts'
import { removeOldHostUsage } from '../domains/record-sightings.ts'
import type { RunFiles } from '../flows/run-files.ts'
import { removeOldRuns } from '../flows/run-store.ts'
import { removeOldGateRuns } from '../gate/store.ts'
import { removeOldImports } from '../ingest/import-store.ts'
import { removeOldLedger, removeOldUsage } from '../ingest/record-segment.ts'
import { deleteExpiredBatches } from '../ingest/seen-batches.ts'
import { removeOldDeliveries } from '../integrations/delivery/delivery-store.ts'
import { removeOldHistory } from '../issues/store.ts'
import { removeOldCounts } from '../order-capture/store.ts'
import { removeOldOrders } from '../orders/store.ts'
import { removeOldAuditEntries } from '../org/audit-log.ts'
import { deletedOrgs } from '../org/store.ts'
import { removeOldShares } from '../shares/store.ts'
import { removeOldGaps } from '../signals/gap-store.ts'
import { removeOldClockSteps } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS, type Retention } from '../store/retention.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/** Functions that delete expired records, one per module. */
const RETENTIONS: readonly Retention[] = [
  removeOldHostUsage,
  removeOldUsage,
  removeOldLedger,
  removeOldImports,
  removeOldDeliveries,
  removeOldHistory,
  removeOldAuditEntries,
  removeOldGaps,
  removeOldClockSteps,
  removeOldFindings,
  removeOldConsentCounts,
  removeOldChanges,
  removeOldOrders,
  removeOldCounts,
  removeOldDigests,
  removeOldShares,
  removeOldRuns,
  removeOldGateRuns,
  removeOldAudits,
]

export interface DeleteExpiredDeps {
  db: Db
  warehouse: Pick<Warehouse, 'drop'>
  /** Time from which the age of data is measured. */
  agedAt(): Instant
  retentionMs: number
  runFiles: Pick<RunFiles, 'retain'>
}

/** Deletes data that is older than its retention period, and data of deleted organizations. */
export async function deleteExpired(parts: DeleteExpiredDeps): Promise<void> {
  const { db, warehouse, retentionMs } = parts
  const now = parts.agedAt()
  const deleted = deletedOrgs(db)
  await warehouse.drop(({ kind, orgId, lastAt }) => {
    const keptMs = kind === 'counts' ? RECORD_RETENTION_MS : retentionMs
    return lastAt < now - keptMs || (orgId !== null && deleted.has(orgId))
  })
  tx(db, () => {
    for (const remove of RETENTIONS) remove(db, now)
  })
  await parts.runFiles.retain(db, now)
  // Deletes in small steps, so that the collector is never blocked for long.
  while (tx(db, () => deleteExpiredBatches(db, now)) !== null) await new Promise(setImmediate)
}
