import type { Instant } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { type Page, type PageRequest, readPage } from '../../http/paging.ts'
import { type Db, tx } from '../../store/database.ts'
import { findOrgRow } from '../../store/org-rows.ts'
import { RECORD_RETENTION_MS } from '../../store/retention.ts'
import { DELIVERY_COLUMNS, type DeliveryRecord } from './delivery.ts'

/**
 * Schedules a delivery again, due now, with the same id. Its earlier attempts stay in the log. Fails with `notFound`,
 * and with `conflict` if the delivery is being sent or was withdrawn.
 */
export function replay(db: Db, orgId: string, id: string, now: Instant): DeliveryRecord {
  return tx(db, () => {
    const delivery = findDelivery(db, orgId, id)
    if (delivery.status === 'sending') throw new AppError('conflict', 'the delivery is being sent; try again later')
    if (delivery.status === 'withdrawn') {
      throw new AppError('conflict', `the delivery was withdrawn: ${delivery.lastError ?? 'it is outdated'}`)
    }
    // A delivery that never arrived is removed from its group. One that arrived stays in the group because the provider
    // remembers its message.
    db.prepare(
      `UPDATE delivery SET status = 'pending', attempts = 0, dueAt = ?, expiresAt = NULL, lastError = NULL,
         groupId = CASE WHEN deliveredAt IS NULL THEN NULL ELSE groupId END
       WHERE id = ?`,
    ).run(now, id)
    return findDelivery(db, orgId, id)
  })
}

/** Returns a delivery. Fails with `notFound` if the organization has no delivery with this id. */
export function findDelivery(db: Db, orgId: string, id: string): DeliveryRecord {
  return findOrgRow(db, `SELECT ${DELIVERY_COLUMNS} FROM delivery`, { orgId, id }, 'the delivery does not exist')
}

interface DeliveryFilter {
  issueId?: string
  status?: DeliveryRecord['status']
  /** Includes only deliveries about issues in these domains. Null or absent: all domains. */
  domainIds?: readonly string[] | null
}

/** Returns a page of the matching deliveries, newest first. */
export function listDeliveries(
  db: Db,
  orgId: string,
  { issueId, status, domainIds = null, ...page }: DeliveryFilter & PageRequest,
): Page<DeliveryRecord> {
  return readPage(db, page, {
    sql: `SELECT ${DELIVERY_COLUMNS} FROM delivery
      WHERE orgId = @orgId AND (@issueId IS NULL OR issueId = @issueId) AND (@status IS NULL OR status = @status)
        AND (@domainIds IS NULL OR issueId IN (
          SELECT id FROM issue WHERE orgId = @orgId AND domainId IN (SELECT value FROM json_each(@domainIds))))`,
    values: {
      orgId,
      issueId: issueId ?? null,
      status: status ?? null,
      domainIds: domainIds && JSON.stringify(domainIds),
    },
    sortBy: 'seq',
    descending: true,
    itemOf: (row: DeliveryRecord) => row,
  })
}

/** Deletes finished deliveries that have exceeded their retention. */
export function removeOldDeliveries(db: Db, now: Instant): void {
  db.prepare(`DELETE FROM delivery WHERE createdAt < ? AND status NOT IN ('pending', 'sending')`).run(
    now - RECORD_RETENTION_MS,
  )
}
