import { isMaskedUrl, maskUrl, sealedPrefixOf } from '../../alerts/encrypt-channel-target.ts'
import type { Instant } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { type Page, type PageRequest, readPage } from '../../http/paging.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
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
  alertId?: readonly string[]
  status?: readonly DeliveryRecord['status'][]
  channelType?: readonly DeliveryRecord['channelType'][]
  /** Ids of channels, as in `channelIdOf`, or of integrations, which include their targets with a detail. */
  channel?: readonly string[]
  /** Includes only deliveries created at or after this time. */
  from?: Instant
  /** Includes only deliveries created before this time. */
  to?: Instant
  /** Includes only deliveries about issues in these domains. Null or absent: all domains. */
  domainIds?: readonly string[] | null
}

const isOneOf = (column: 'status' | 'alertId' | 'channelType' | 'channelTarget') =>
  `(@${column} IS NULL OR ${column} IN (SELECT value FROM json_each(@${column})))`

/** SQL expressions by which deliveries can be sorted. Later deliveries have a higher number. */
const DELIVERY_ORDERS = { createdAt: 'seq', status: 'status', channel: 'channelType', attempts: 'attempts' }
export const DELIVERY_SORTS = Object.keys(DELIVERY_ORDERS) as (keyof typeof DELIVERY_ORDERS)[]

/** Returns a page of the matching deliveries, newest first by default. */
export function listDeliveries(
  db: Db,
  orgId: string,
  {
    issueId,
    alertId,
    status,
    channelType,
    channel,
    from,
    to,
    domainIds = null,
    sort,
    ...page
  }: DeliveryFilter & PageRequest & { sort?: string },
): Page<DeliveryRecord> {
  return readPage(db, page, {
    sort,
    orders: DELIVERY_ORDERS,
    sql: `SELECT ${DELIVERY_COLUMNS} FROM delivery
      WHERE orgId = @orgId AND (@from IS NULL OR createdAt >= @from) AND (@to IS NULL OR createdAt < @to)
        AND ${isOneOf('channelTarget')} AND ${isOneOf('channelType')} AND ${isOneOf('status')} AND ${isOneOf('alertId')}
        AND (@issueId IS NULL OR issueId = @issueId)
        AND (@domainIds IS NULL OR issueId IN (
          SELECT id FROM issue WHERE orgId = @orgId AND domainId IN (SELECT value FROM json_each(@domainIds))))`,
    values: {
      orgId,
      issueId: issueId ?? null,
      alertId: alertId ? JSON.stringify(alertId) : null,
      status: status ? JSON.stringify(status) : null,
      channelType: channelType ? JSON.stringify(channelType) : null,
      channelTarget: channel ? JSON.stringify(targetsOf(db, orgId, channel)) : null,
      from: from ?? null,
      to: to ?? null,
      domainIds: domainIds && JSON.stringify(domainIds),
    },
    sortBy: 'seq',
    descending: true,
    itemOf: (row: DeliveryRecord) => row,
  })
}

/** Maximum number of channels in the list of channels. */
const MAX_CHANNELS = 500

/**
 * Returns the channels that have deliveries, at most 500, ordered by their stored target. Each step seeks the next
 * channel, because a scan would read every delivery.
 */
export function listChannels(db: Db, orgId: string): Pick<DeliveryRecord, 'channelType' | 'channelTarget'>[] {
  const next = (after: string) => `(SELECT seq FROM delivery
    WHERE orgId = @orgId ${after} ORDER BY channelTarget, channelType LIMIT 1)`
  const sql = `WITH RECURSIVE turn(seq) AS (
      SELECT ${next('')}
      UNION ALL
      SELECT ${next('AND (channelTarget, channelType) > (one.channelTarget, one.channelType)')}
      FROM turn JOIN delivery AS one ON one.seq = turn.seq LIMIT ${MAX_CHANNELS})
    SELECT channelType, channelTarget FROM turn JOIN delivery ON delivery.seq = turn.seq`
  return prepared<[object], Pick<DeliveryRecord, 'channelType' | 'channelTarget'>>(db, sql).all({ orgId })
}

/**
 * Id of a channel in filters: its target, with the URL masked and with semicolons instead of commas, which separate the
 * values of a filter.
 */
export const channelIdOf = (channelTarget: string): string => maskUrl(channelTarget).replaceAll(',', ';')

/** Stored targets of these channels and integrations. */
function targetsOf(db: Db, orgId: string, ids: readonly string[]): string[] {
  const known = listChannels(db, orgId).map(({ channelTarget }) => channelTarget)
  return ids.flatMap((id) => {
    if (isMaskedUrl(id)) return known.filter((target) => target.startsWith(sealedPrefixOf(id)))
    const target = id.replaceAll(';', ',')
    return [target, ...known.filter((one) => one.startsWith(`${target}:`))]
  })
}

/** Deletes finished deliveries that have exceeded their retention. */
export function removeOldDeliveries(db: Db, now: Instant): void {
  db.prepare(`DELETE FROM delivery WHERE createdAt < ? AND status NOT IN ('pending', 'sending')`).run(
    now - RECORD_RETENTION_MS,
  )
}
