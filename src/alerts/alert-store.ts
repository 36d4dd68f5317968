import { costOf } from '../conditions/condition.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { hasDomain } from '../domains/store.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { timezoneOf } from '../org/store.ts'
import { type Db, likePattern, prepared, tx } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import type { Alert, AlertChannel, AlertInput, AlertKind, Escalation } from './alert.ts'
import { type Cursor, firstCursor, nextDueAt, scheduleOf } from './due-windows.ts'
import type { WatchedDomain } from './types/alert-type.ts'

/** Maximum number of alerts per organization. */
export const MAX_ALERTS = 10_000

/** Maximum total size of an organization's alerts, as JSON. */
const MAX_BYTES = 256 * 1024 * 1024
/** Alerts up to this size skip the check of the total size; 10,000 such alerts use 160 MB. */
const SMALL_BYTES = 16 * 1024

interface AlertRow extends Cursor {
  dueAt: Instant
  id: string
  orgId: string
  /** JSON of the input with defaults filled in, without `enabled`. */
  input: string
  enabled: number
  createdAt: Instant
  updatedAt: Instant
  cost: number
}

/** An enabled alert with its evaluation cursor. */
export interface ActiveAlert {
  alert: Alert
  cursor: Cursor
  /** The alert has no due evaluation before this instant; 0 when unknown. */
  dueAt: Instant
}

function alertOf({ id, orgId, input, enabled, createdAt, updatedAt }: AlertRow): Alert {
  const stored = JSON.parse(input) as AlertInput & Pick<Alert, 'severity' | 'timezone'>
  return { ...stored, enabled: enabled === 1, id, orgId, createdAt, updatedAt }
}

/** Returns the alert with defaults filled in. */
export function alertFrom(input: AlertInput, row: Pick<Alert, 'id' | 'orgId' | 'createdAt' | 'updatedAt'>): Alert {
  const { severity = 'low', timezone = 'UTC', enabled = true } = input
  return { ...input, severity, timezone, enabled, ...row }
}

function cellsOf(alert: Alert, cursor: Cursor) {
  const { id, orgId, enabled, createdAt, updatedAt, ...input } = alert
  const { evaluatedThrough, windowStartAt } = cursor
  const cells = { id, orgId, input: JSON.stringify(input), enabled: enabled ? 1 : 0, evaluatedThrough, windowStartAt }
  return { ...cells, dueAt: nextDueAt(cursor, scheduleOf(alert)), createdAt, updatedAt, cost: costOf(alert) }
}

const findRow = (db: Db, alert: OrgRowKey) => findOrgRow<AlertRow>(db, 'SELECT * FROM alert', alert, 'no such alert')

/** Returns the alert. Throws `AppError('notFound')` when the organization does not have it. */
export function findAlert(db: Db, key: OrgRowKey): Alert {
  return alertOf(findRow(db, key))
}

/** Returns the channels of an alert. Throws `AppError('notFound')` when the organization does not have it. */
export function findChannels(db: Db, key: OrgRowKey): AlertChannel[] {
  const select = "SELECT input -> '$.channels' AS channels FROM alert"
  return JSON.parse(findOrgRow<{ channels: string | null }>(db, select, key, 'no such alert').channels ?? '[]')
}

/** The fields of an alert that determine when its issues escalate. */
export interface EscalationRules extends Pick<Alert, 'enabled' | 'timezone' | 'runWindows'> {
  /** Null if the organization's steps apply. */
  escalation: Escalation | null
}

/** Returns null if the organization does not have the alert. */
export function findEscalationRules(db: Db, key: OrgRowKey): EscalationRules | null {
  const row = prepared<[object], { enabled: number; timezone: string } & Record<'runWindows' | 'escalation', string>>(
    db,
    `SELECT enabled, input ->> '$.timezone' AS timezone, input -> '$.runWindows' AS runWindows,
       input -> '$.escalation' AS escalation
     FROM alert WHERE orgId = @orgId AND id = @id`,
  ).get(key)
  return row
    ? {
        enabled: row.enabled === 1,
        timezone: row.timezone,
        runWindows: JSON.parse(row.runWindows ?? 'null') ?? undefined,
        escalation: JSON.parse(row.escalation ?? 'null'),
      }
    : null
}

/** Selects alerts. Absent fields do not filter. */
export interface AlertFilter {
  /** The id, or part of the name; ASCII letters match case-insensitively. */
  q?: string
  enabled?: boolean
  alertTypes?: readonly string[]
  /** Selects alerts that watch one of these domains, including alerts that watch all domains. May be empty. */
  domainIds?: readonly string[]
}

/** SQL: true when the alert watches one of the domains, or all domains. */
const WATCHES = `(
  (input ->> '$.domainId' IS NULL AND ifnull(json_array_length(input, '$.domainIds'), 0) = 0)
  OR input ->> '$.domainId' IN (SELECT value FROM json_each(@domainIds))
  OR EXISTS (SELECT 1 FROM json_each(input, '$.domainIds') AS own
    WHERE own.value IN (SELECT value FROM json_each(@domainIds))))`

/** SQL expressions by which alerts can be sorted. Severities are sorted from low to critical. */
const ALERT_ORDERS = {
  name: "lower(input ->> '$.name')",
  alertType: 'alertType',
  severity: `CASE input ->> '$.severity' WHEN 'critical' THEN 3 WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END`,
  enabled: 'enabled',
  createdAt: 'createdAt',
}
export const ALERT_SORTS = Object.keys(ALERT_ORDERS) as (keyof typeof ALERT_ORDERS)[]

/** Returns a page of the matching alerts, oldest first by default. */
export function listAlerts(
  db: Db,
  orgId: string,
  { q, enabled, alertTypes, domainIds, sort, ...page }: AlertFilter & PageRequest & { sort?: string },
): Page<Alert> {
  return readPage(db, page, {
    sort,
    orders: ALERT_ORDERS,
    sql: `SELECT * FROM alert WHERE orgId = @orgId AND (@enabled IS NULL OR enabled = @enabled)
        AND (@alertTypes IS NULL OR alertType IN (SELECT value FROM json_each(@alertTypes)))
        AND (@q IS NULL OR id = @q OR input ->> '$.name' LIKE @pattern ESCAPE '\\')
        AND (@domainIds IS NULL OR ${WATCHES})`,
    values: {
      orgId,
      q: q || null,
      pattern: likePattern(q ?? ''),
      enabled: enabled === undefined ? null : Number(enabled),
      alertTypes: alertTypes === undefined ? null : JSON.stringify(alertTypes),
      domainIds: domainIds === undefined ? null : JSON.stringify(domainIds),
    },
    sortBy: 'id',
    itemOf: alertOf,
  })
}

/** Yields the alerts of an organization, oldest first. Each alert is read when it is requested. */
export function* iterateAlerts(db: Db, orgId: string): Generator<Alert> {
  const ids = db.prepare<[string], string>('SELECT id FROM alert WHERE orgId = ? ORDER BY id').pluck().all(orgId)
  const find = prepared<[string], AlertRow>(db, 'SELECT * FROM alert WHERE id = ?')
  for (const id of ids) {
    const row = find.get(id)
    if (row) yield alertOf(row)
  }
}

/** Returns all alerts of an organization, oldest first. */
export function alertsOf(db: Db, orgId: string): Alert[] {
  return db.prepare<[string], AlertRow>('SELECT * FROM alert WHERE orgId = ? ORDER BY id').all(orgId).map(alertOf)
}

/** Returns the number of alerts of an organization with an impact value above 0, including disabled ones. */
export function countAlertsWithImpact(db: Db, orgId: string): number {
  return (
    db
      .prepare<[string], number>(`SELECT count(*) FROM alert WHERE orgId = ? AND input ->> '$.impactValue' > 0`)
      .pluck()
      .get(orgId) ?? 0
  )
}

/** A stored alert whose JSON is parsed only when `read` is called. */
export interface StoredAlert {
  id: string
  orgId: string
  /** Changes whenever any field of the alert changes. */
  fingerprint: number | bigint
  /** The cost returned by `costOf`; 0 for alerts stored by a version that had no costs. */
  cost: number
  read(): Alert
}

/**
 * Returns these alerts, or all alerts of all organizations when `ids` is absent; oldest first, including disabled ones.
 * Unknown ids are omitted.
 */
export function storedAlerts(db: Db, ids?: readonly string[]): StoredAlert[] {
  const rows = ids
    ? db
        .prepare<[string], AlertRow>('SELECT * FROM alert WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id')
        .all(JSON.stringify(ids))
    : db.prepare<[], AlertRow>('SELECT * FROM alert ORDER BY id').all()
  return rows.map((row) => ({
    id: row.id,
    orgId: row.orgId,
    fingerprint: Bun.hash(`${row.enabled}${row.input}`),
    cost: row.cost,
    read: () => alertOf(row),
  }))
}

/** Returns the enabled alerts of all organizations, oldest first. */
export function activeAlerts(db: Db): ActiveAlert[] {
  return db.prepare<[], AlertRow>('SELECT * FROM alert WHERE enabled = 1 ORDER BY id').all().map(activeOf)
}

function activeOf(row: AlertRow): ActiveAlert {
  const { evaluatedThrough, windowStartAt, dueAt } = row
  return { alert: alertOf(row), cursor: { evaluatedThrough, windowStartAt }, dueAt }
}

/** Enabled alerts of these types that are due, and when the first of them became due. */
export interface DueAlerts {
  count: number
  /** Null if none is due. */
  since: Instant | null
}

/** Returns which alerts are due. Cheap: reads only the index of due times. */
export function countDueAlerts(db: Db, kinds: readonly AlertKind[], now: Instant): DueAlerts {
  const count = prepared<[AlertKind, Instant], DueAlerts>(
    db,
    `SELECT count(*) AS count, min(dueAt) AS since FROM alert
     WHERE enabled = 1 AND alertType = ? AND dueAt > 0 AND dueAt <= ?`,
  )
  const all = kinds.flatMap((kind) => count.get(kind, now) ?? [])
  const times = all.flatMap(({ since }) => since ?? [])
  return {
    count: all.reduce((sum, one) => sum + one.count, 0),
    since: times.length > 0 ? Math.min(...times) : null,
  }
}

/** Number of alerts read before yielding to the event loop; reading them takes 2 ms. */
const READ_AT_ONCE = 250

/** Returns the ids of an organization's alerts created or changed at or after `since`. */
export function alertsChangedSince(db: Db, orgId: string, since: Instant): string[] {
  const rows = prepared<[string, Instant], { id: string }>(
    db,
    'SELECT id FROM alert WHERE orgId = ? AND updatedAt >= ?',
  )
  return rows.all(orgId, since).map(({ id }) => id)
}

/**
 * Returns the enabled alerts of one type, of all organizations, that may be due by `dueBy` (`Infinity`: all), earliest
 * due first.
 */
export async function dueAlerts(db: Db, kind: AlertKind, dueBy: Instant): Promise<ActiveAlert[]> {
  const find = prepared<[object], AlertRow>(
    db,
    `SELECT * FROM alert WHERE enabled = 1 AND alertType = @kind AND dueAt <= @dueBy AND (dueAt, id) > (@dueAt, @id)
     ORDER BY dueAt, id LIMIT ${READ_AT_ONCE}`,
  )
  const found: ActiveAlert[] = []
  let last = { dueAt: -1, id: '' }
  for (;;) {
    const rows = find.all({ kind, dueBy, ...last })
    found.push(...rows.map(activeOf))
    const end = rows.at(-1)
    if (!end || rows.length < READ_AT_ONCE) return found
    last = { dueAt: end.dueAt, id: end.id }
    await Bun.sleep(0)
  }
}

/** Returns the enabled alerts among these alerts. */
export function activeAmong(db: Db, ids: readonly string[]): ActiveAlert[] {
  const find = prepared<[string], AlertRow>(db, 'SELECT * FROM alert WHERE id = ? AND enabled = 1')
  return ids.flatMap((id) => find.get(id) ?? []).map(activeOf)
}

/** Stores an alert's due time, so that the alert is not read earlier. */
export function saveDueAt(db: Db, { alert, cursor }: ActiveAlert): void {
  const dueAt = nextDueAt(cursor, scheduleOf(alert))
  prepared<[object]>(
    db,
    `UPDATE alert SET dueAt = @dueAt
     WHERE id = @id AND evaluatedThrough = @evaluatedThrough AND windowStartAt = @windowStartAt`,
  ).run({ id: alert.id, dueAt, ...cursor })
}

/**
 * Throws `AppError('invalid')`, naming the first field (such as `domainIds[3]`), for domains that the organization does
 * not have. If a domain is deleted later, the alert ignores it.
 */
export function checkDomains(db: Db, orgId: string, { domainId, domainIds = [] }: AlertInput): void {
  const isKnown = (id: string) => hasDomain(db, { orgId, id })
  if (domainId !== undefined && !isKnown(domainId)) throw new AppError('invalid', 'domainId: no such domain')
  const index = domainIds.findIndex((id) => !isKnown(id))
  if (index >= 0) throw new AppError('invalid', `domainIds[${index}]: no such domain`)
}

/** Throws `AppError('conflict')` when the organization has the maximum number of alerts. */
function checkCount(db: Db, orgId: string): void {
  const count = prepared<[string], { alerts: number }>(db, 'SELECT count(*) AS alerts FROM alert WHERE orgId = ?')
  if ((count.get(orgId)?.alerts ?? 0) < MAX_ALERTS) return
  throw new AppError('conflict', `an organization can have at most ${MAX_ALERTS} alerts`)
}

/** Throws `AppError('conflict')` when writing this alert would exceed the maximum total size. */
function checkSize(db: Db, { orgId, id }: OrgRowKey, input: string): void {
  const bytes = Buffer.byteLength(input)
  // Summing all bytes for each small alert would make bulk creation quadratic.
  if (bytes <= SMALL_BYTES) return
  const others = prepared<[string, string], { bytes: number | null }>(
    db,
    'SELECT sum(octet_length(input)) AS bytes FROM alert WHERE orgId = ? AND id <> ?',
  )
  if (bytes + (others.get(orgId, id)?.bytes ?? 0) <= MAX_BYTES) return
  throw new AppError('conflict', `the alerts of an organization can use at most ${MAX_BYTES / 2 ** 20} MiB in total`)
}

/**
 * Creates the alert, which evaluates events from now on. Throws `AppError('conflict')` when the organization would
 * exceed `MAX_ALERTS` alerts or 256 MiB of alerts.
 */
export function createAlert(db: Db, clock: Clock, orgId: string, input: AlertInput): Alert {
  return tx(db, () => {
    checkCount(db, orgId)
    const createdAt = clock.now()
    const alert = alertFrom(input, { id: newId('alr', createdAt), orgId, createdAt, updatedAt: createdAt })
    const cells = cellsOf(alert, firstCursor(scheduleOf(alert), createdAt))
    checkSize(db, alert, cells.input)
    db.prepare(
      `INSERT INTO alert
         (id, orgId, input, enabled, evaluatedThrough, windowStartAt, dueAt, createdAt, updatedAt, cost)
       VALUES
         (@id, @orgId, @input, @enabled, @evaluatedThrough, @windowStartAt, @dueAt, @createdAt, @updatedAt, @cost)`,
    ).run(cells)
    return alert
  })
}

/**
 * Replaces the alert; absent fields of the input get their defaults. When the rule changes, or the alert is enabled,
 * its cursor is reset to the current time, so that the new rule does not evaluate earlier events. Throws
 * `AppError('notFound')` when the alert does not exist.
 */
export function updateAlert(db: Db, clock: Clock, key: OrgRowKey, input: AlertInput): Alert {
  return tx(db, () => {
    const row = findRow(db, key)
    const before = alertOf(row)
    const alert = alertFrom(input, { ...key, createdAt: before.createdAt, updatedAt: clock.now() })
    const restarts = !Bun.deepEquals(judgingFields(alert), judgingFields(before)) || (alert.enabled && !before.enabled)
    const cells = cellsOf(alert, restarts ? firstCursor(scheduleOf(alert), alert.updatedAt) : row)
    checkSize(db, key, cells.input)
    db.prepare(
      `UPDATE alert SET input = @input, enabled = @enabled, evaluatedThrough = @evaluatedThrough,
         windowStartAt = @windowStartAt, dueAt = @dueAt, updatedAt = @updatedAt, cost = @cost WHERE id = @id`,
    ).run(cells)
    return alert
  })
}

/**
 * Enables or disables the alert. An enabled alert evaluates events from now on. Writes nothing when nothing changes.
 * Throws `AppError('notFound')` when the alert does not exist.
 */
export function setEnabled(db: Db, clock: Clock, key: OrgRowKey, enabled: boolean): Alert {
  return tx(db, () => {
    const row = findRow(db, key)
    const before = alertOf(row)
    if (before.enabled === enabled) return before
    const alert = { ...before, enabled, updatedAt: clock.now() }
    const schedule = scheduleOf(alert)
    const { evaluatedThrough, windowStartAt } = enabled ? firstCursor(schedule, alert.updatedAt) : row
    const dueAt = nextDueAt({ evaluatedThrough, windowStartAt }, schedule)
    prepared<[object]>(
      db,
      `UPDATE alert SET enabled = @enabled, evaluatedThrough = @evaluatedThrough, windowStartAt = @windowStartAt,
         dueAt = @dueAt, updatedAt = @updatedAt WHERE id = @id`,
    ).run({ id: key.id, enabled: Number(enabled), evaluatedThrough, windowStartAt, dueAt, updatedAt: alert.updatedAt })
    return alert
  })
}

/**
 * Returns the fields of an alert that determine which events it evaluates, how, and in which windows: all fields except
 * its name and notification settings.
 */
function judgingFields(alert: Alert): object {
  const { id, orgId, createdAt, updatedAt, enabled, ...input } = alert
  const { name, severity, runWindows, throttle, channels, escalation, impactValue, ...rule } = input
  return rule
}

/**
 * Deletes the alert. `deleted` is called first, in the same transaction, to update dependent rows; it may only write to
 * the database. Throws `AppError('notFound')` when the alert does not exist.
 */
export function deleteAlert(db: Db, key: OrgRowKey, deleted: (alert: Alert) => void): void {
  tx(db, () => {
    deleted(findAlert(db, key))
    db.prepare('DELETE FROM alert WHERE id = ?').run(key.id)
  })
}

/**
 * Advances an alert's cursor, in the transaction that writes the results of the evaluation. Returns false, and writes
 * nothing, when the alert was changed, disabled or deleted in the meantime: the results must then be discarded.
 * `dueAt`: the alert has no due evaluation before this instant; 0 when unknown.
 */
export function advanceAlert(db: Db, id: string, from: Cursor, to: Cursor, dueAt: Instant = 0): boolean {
  const { changes } = prepared<[Record<string, unknown>]>(
    db,
    `UPDATE alert SET evaluatedThrough = @through, windowStartAt = @startAt, dueAt = @dueAt
     WHERE id = @id AND enabled = 1 AND evaluatedThrough = @evaluatedThrough AND windowStartAt = @windowStartAt`,
  ).run({ id, through: to.evaluatedThrough, startAt: to.windowStartAt, dueAt, ...from })
  return changes === 1
}

/** Sets an alert's cursor unconditionally. */
export function restartAlert(db: Db, id: string, { evaluatedThrough, windowStartAt }: Cursor): void {
  prepared<[Instant, Instant, string]>(
    db,
    'UPDATE alert SET evaluatedThrough = ?, windowStartAt = ?, dueAt = 0 WHERE id = ?',
  ).run(evaluatedThrough, windowStartAt, id)
}

/** Returns all domains of an organization as `WatchedDomain`s. */
export function watchedDomains(db: Db, orgId: string): WatchedDomain[] {
  const timezone = timezoneOf(db, orgId)
  return db
    .prepare<[string], WatchedDomain>('SELECT id, createdAt FROM domain WHERE orgId = ? ORDER BY id')
    .all(orgId)
    .map((domain) => ({ ...domain, timezone }))
}
