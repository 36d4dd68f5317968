import { removeOldAudits } from '../audits/store.ts'
import { removeOldChanges } from '../changes/store.ts'
import { removeOldConsentCounts } from '../compliance/consent-store.ts'
import { removeOldFindings } from '../compliance/store.ts'
import { attemptEach } from '../core/attempt-each.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { countText, sizeText, timeText } from '../core/text.ts'
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
import { limitInForce } from '../store/retention-limits.ts'
import type { StoredPart, Warehouse } from '../warehouse/warehouse.ts'

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
  runFiles: Pick<RunFiles, 'retain'>
  log: { info(message: string): void }
}

/**
 * Deletes data that is older than its retention period, and data of deleted organizations. If events can't be deleted,
 * everything else is, and the promise rejects.
 */
export async function deleteExpired(parts: DeleteExpiredDeps): Promise<void> {
  await attemptEach('kinds of expired data', [deleteStoredParts, deleteRecords], (remove) => remove(parts))
}

async function deleteStoredParts({ db, warehouse, log, agedAt }: DeleteExpiredDeps): Promise<void> {
  const now = agedAt()
  const days = limitInForce(db, 'retentionDays', now)
  const deleted = deletedOrgs(db)
  const dropped = new Map<string, StoredPart[]>()
  await warehouse.drop((part) => {
    const { kind, orgId, lastAt } = part
    const keptMs = kind === 'counts' ? RECORD_RETENTION_MS : days * DAY_MS
    const ofDeleted = orgId !== null && deleted.has(orgId)
    if (lastAt >= now - keptMs && !ofDeleted) return false
    const reason = ofDeleted ? `of the deleted organization ${orgId}` : `older than ${countText(keptMs / DAY_MS)} days`
    const key = `${NOUNS[kind]} ${reason}`
    dropped.set(key, [...(dropped.get(key) ?? []), part])
    return true
  }, deleted)
  for (const [what, own] of dropped) log.info(`deleted ${what}: ${partsText(own)}`)
}

async function deleteRecords({ db, runFiles, agedAt }: DeleteExpiredDeps): Promise<void> {
  const now = agedAt()
  tx(db, () => {
    for (const remove of RETENTIONS) remove(db, now)
  })
  await runFiles.retain(db, now)
  // Deletes in small steps, so that the collector is never blocked for long.
  while (tx(db, () => deleteExpiredBatches(db, now)) !== null) await new Promise(setImmediate)
}

const NOUNS: Record<StoredPart['kind'], string> = { events: 'events', counts: 'counts', pages: 'page timings' }

/** Returns `120 rows in 3 files, 1.2 MB, from 2026-01-05 12:07 UTC to 2026-01-06 12:07 UTC`. */
function partsText(parts: readonly StoredPart[]): string {
  const sum = (of: (part: StoredPart) => number) => parts.reduce((total, part) => total + of(part), 0)
  const from = Math.min(...parts.map(({ firstAt }) => firstAt))
  const to = Math.max(...parts.map(({ lastAt }) => lastAt))
  const counted = (n: number, noun: string) => `${countText(n)} ${noun}${n === 1 ? '' : 's'}`
  const files = counted(parts.length, 'file')
  return `${counted(
    sum(({ rows }) => rows),
    'row',
  )} in ${files}, ${sizeText(sum(({ bytes }) => bytes))}, from ${timeText(from)} to ${timeText(to)}`
}
