import { costOf } from '../conditions/condition.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Db, likePattern, prepared, tx } from '../store/database.ts'
import type { Alert, AlertInput, AlertKind } from './alert.ts'
import { type Cursor, firstCursor, nextDueAt, scheduleOf } from './due-windows.ts'
import type { WatchedDomain } from './types/alert-type.ts'

/** Maximum number of alerts of an organization. */
export const MAX_ALERTS = 10_000

/** Maximum size of all alerts of an organization together, as JSON. */
const MAX_BYTES = 256 * 1024 * 1024
/** Alerts up to this size are not counted; 10,000 of them take 160 MB. */
const SMALL_BYTES = 16 * 1024

/** Identifies an alert within one organization: another organization's alert is not found. */
export interface AlertKey {
  orgId: string
  id: string
}

interface AlertRow extends Cursor {
  dueAt: Instant
  id: string
  orgId: string
  /** JSON of the input with its defaults, without `enabled`. */
  input: string
  enabled: number
  createdAt: Instant
  updatedAt: Instant
  cost: number
}

/** An enabled alert, and how far it has been evaluated. */
export interface ActiveAlert {
  alert: Alert
  cursor: Cursor
  /** Before this instant nothing of the alert is due; 0 when that is unknown. */
  dueAt: Instant
}

const noSuchAlert = () => new AppError('notFound', 'no such alert')

function alertOf({ id, orgId, input, enabled, createdAt, updatedAt }: AlertRow): Alert {
  const stored = JSON.parse(input) as AlertInput & Pick<Alert, 'severity' | 'timezone'>
  return { ...stored, enabled: enabled === 1, id, orgId, createdAt, updatedAt }
}

/** Returns the alert with defaults filled in. */
export function alertFrom(input: AlertInput, row: Pick<Alert, 'id' | 'orgId' | 'createdAt' | 'updatedAt'>): Alert {
  const { severity = 'low', timezone = 'UTC', enabled = true } = input
  return { ...input, severity, timezone, enabled, ...row }
}

function cellsOf(alert: Alert, cursor: Cursor, cost = costOf(alert)) {
  const { id, orgId, enabled, createdAt, updatedAt, ...input } = alert
  const { evaluatedThrough, windowStartAt } = cursor
  const cells = { id, orgId, input: JSON.stringify(input), enabled: enabled ? 1 : 0, evaluatedThrough, windowStartAt }
  return { ...cells, dueAt: nextDueAt(cursor, scheduleOf(alert)), createdAt, updatedAt, cost }
}

function findRow(db: Db, { orgId, id }: AlertKey): AlertRow {
  const row = db.prepare<[string, string], AlertRow>('SELECT * FROM alert WHERE orgId = ? AND id = ?').get(orgId, id)
  if (!row) throw noSuchAlert()
  return row
}

/** Returns the alert. Fails with `notFound` when the organization has no such alert. */
export function findAlert(db: Db, key: AlertKey): Alert {
  return alertOf(findRow(db, key))
}

/** Selects alerts; absent fields do not restrict. */
export interface AlertFilter {
  /** Part of the name, ignoring the case of ASCII letters, or the id. */
  q?: string
  enabled?: boolean
  alertTypes?: readonly string[]
  /** Alerts that watch one of these domains, including those that watch all domains; may be empty. */
  domainIds?: readonly string[]
}

/** SQL: the alert watches one of the domains, or all. */
const WATCHES = `(
  (input ->> '$.domainId' IS NULL AND ifnull(json_array_length(input, '$.domainIds'), 0) = 0)
  OR input ->> '$.domainId' IN (SELECT value FROM json_each(@domainIds))
  OR EXISTS (SELECT 1 FROM json_each(input, '$.domainIds') AS own
    WHERE own.value IN (SELECT value FROM json_each(@domainIds))))`

/**
 * Returns matching alerts with ids after `after` (null: from the first), oldest first; at most `limit + 1`, so that the
 * caller sees whether more follow.
 */
export function listAlerts(
  db: Db,
  orgId: string,
  after: string | number | null,
  limit: number,
  { q, enabled, alertTypes, domainIds }: AlertFilter = {},
): Alert[] {
  return db
    .prepare<[object], AlertRow>(
      `SELECT * FROM alert WHERE orgId = @orgId AND (@after IS NULL OR id > @after)
         AND (@enabled IS NULL OR enabled = @enabled)
         AND (@alertTypes IS NULL OR alertType IN (SELECT value FROM json_each(@alertTypes)))
         AND (@q IS NULL OR id = @q OR input ->> '$.name' LIKE @pattern ESCAPE '\\')
         AND (@domainIds IS NULL OR ${WATCHES})
       ORDER BY id LIMIT @limit + 1`,
    )
    .all({
      ...{ orgId, after, limit, q: q || null, pattern: likePattern(q ?? '') },
      enabled: enabled === undefined ? null : Number(enabled),
      alertTypes: alertTypes === undefined ? null : JSON.stringify(alertTypes),
      domainIds: domainIds === undefined ? null : JSON.stringify(domainIds),
    })
    .map(alertOf)
}

/** Yields the alerts of an organization, oldest first; each is read when it is requested. */
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

/** Returns how many alerts of an organization have an impact value above 0, disabled ones included. */
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
  /** Changes whenever anything about the alert changes. */
  fingerprint: number | bigint
  /** As `costOf`; 0 for alerts stored by a version without costs. */
  cost: number
  read(): Alert
}

/**
 * Returns these alerts, or all alerts of all organizations when `ids` is absent; oldest first, disabled ones included.
 * Ids that do not exist are left out.
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

/** Number of alerts read before the event loop is released; takes 2 ms. */
const READ_AT_ONCE = 250

/** Returns the ids of an organization's alerts that were created or changed at or after `since`. */
export function alertsChangedSince(db: Db, orgId: string, since: Instant): string[] {
  const rows = prepared<[string, Instant], { id: string }>(
    db,
    'SELECT id FROM alert WHERE orgId = ? AND updatedAt >= ?',
  )
  return rows.all(orgId, since).map(({ id }) => id)
}

/**
 * Returns the enabled alerts of one type, of all organizations, that may be due by `dueBy` (`Infinity`: all); the
 * earliest due first.
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

/** Returns those of these alerts that are enabled. */
export function activeAmong(db: Db, ids: readonly string[]): ActiveAlert[] {
  const find = prepared<[string], AlertRow>(db, 'SELECT * FROM alert WHERE id = ? AND enabled = 1')
  return ids.flatMap((id) => find.get(id) ?? []).map(activeOf)
}

/** Stores the due time of an alert, so that it is not read before then. */
export function saveDueAt(db: Db, { alert, cursor }: ActiveAlert): void {
  const dueAt = nextDueAt(cursor, scheduleOf(alert))
  prepared<[object]>(
    db,
    `UPDATE alert SET dueAt = @dueAt
     WHERE id = @id AND evaluatedThrough = @evaluatedThrough AND windowStartAt = @windowStartAt`,
  ).run({ id: alert.id, dueAt, ...cursor })
}

/**
 * Throws `AppError('invalid')` for domains that the organization does not have, naming the first as in `domainIds[3]`.
 * A domain may be deleted later; the alert then stays and ignores it.
 */
export function checkDomains(db: Db, orgId: string, { domainId, domainIds = [] }: AlertInput): void {
  const find = db.prepare('SELECT 1 FROM domain WHERE orgId = ? AND id = ?')
  const isKnown = (id: string) => find.get(orgId, id) !== undefined
  if (domainId !== undefined && !isKnown(domainId)) throw new AppError('invalid', 'domainId: no such domain')
  const index = domainIds.findIndex((id) => !isKnown(id))
  if (index >= 0) throw new AppError('invalid', `domainIds[${index}]: no such domain`)
}

/** Fails with `conflict` when the organization has the maximum number of alerts. */
function checkCount(db: Db, orgId: string): void {
  const count = prepared<[string], { alerts: number }>(db, 'SELECT count(*) AS alerts FROM alert WHERE orgId = ?')
  if ((count.get(orgId)?.alerts ?? 0) < MAX_ALERTS) return
  throw new AppError('conflict', `an organization can have at most ${MAX_ALERTS} alerts`)
}

/** Fails with `conflict` when writing this alert would exceed the maximum size of all alerts. */
function checkSize(db: Db, { orgId, id }: AlertKey, input: string): void {
  const bytes = Buffer.byteLength(input)
  // Counting all bytes for each small alert would make bulk creation quadratic.
  if (bytes <= SMALL_BYTES) return
  const others = prepared<[string, string], { bytes: number | null }>(
    db,
    'SELECT sum(octet_length(input)) AS bytes FROM alert WHERE orgId = ? AND id <> ?',
  )
  if (bytes + (others.get(orgId, id)?.bytes ?? 0) <= MAX_BYTES) return
  throw new AppError('conflict', `the alerts of an organization can use at most ${MAX_BYTES / 2 ** 20} MiB in total`)
}

/**
 * Creates the alert; it judges from now on. Fails with `conflict` when the organization would have more than
 * `MAX_ALERTS` alerts, or more than 256 MiB of them.
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
 * Replaces the alert; fields that the input leaves out get their defaults. When the rule changes, or the alert is
 * enabled, its cursor restarts from now: earlier events are not judged by the new rule. Fails with `notFound`.
 */
export function updateAlert(db: Db, clock: Clock, key: AlertKey, input: AlertInput): Alert {
  return tx(db, () => {
    const row = findRow(db, key)
    const before = alertOf(row)
    const alert = alertFrom(input, { ...key, createdAt: before.createdAt, updatedAt: clock.now() })
    const restarts = !Bun.deepEquals(judgingFields(alert), judgingFields(before)) || (alert.enabled && !before.enabled)
    const cells = cellsOf(alert, restarts ? firstCursor(scheduleOf(alert), alert.updatedAt) : row)
    checkSize(db, key, cells.input)
    write(db, cells)
    return alert
  })
}

/**
 * Enables or disables the alert; an enabled alert judges from now on. Without a change nothing is written. Fails with
 * `notFound`.
 */
export function setEnabled(db: Db, clock: Clock, key: AlertKey, enabled: boolean): Alert {
  return tx(db, () => {
    const row = findRow(db, key)
    const before = alertOf(row)
    if (before.enabled === enabled) return before
    const alert = { ...before, enabled, updatedAt: clock.now() }
    write(db, cellsOf(alert, enabled ? firstCursor(scheduleOf(alert), alert.updatedAt) : row, row.cost))
    return alert
  })
}

function write(db: Db, cells: ReturnType<typeof cellsOf>): void {
  db.prepare(
    `UPDATE alert SET input = @input, enabled = @enabled, evaluatedThrough = @evaluatedThrough,
       windowStartAt = @windowStartAt, dueAt = @dueAt, updatedAt = @updatedAt, cost = @cost WHERE id = @id`,
  ).run(cells)
}

/**
 * Returns the part of an alert that decides which events it judges, how, and in which windows: everything but its name
 * and its notifications.
 */
function judgingFields(alert: Alert): object {
  const { id, orgId, createdAt, updatedAt, enabled, ...input } = alert
  const { name, severity, runWindows, throttle, channels, impactValue, ...rule } = input
  return rule
}

/**
 * Deletes the alert. `deleted` is called first, in the same transaction, for dependent rows; it may only write to the
 * database. Fails with `notFound`.
 */
export function deleteAlert(db: Db, key: AlertKey, deleted: (alert: Alert) => void): void {
  tx(db, () => {
    deleted(findAlert(db, key))
    db.prepare('DELETE FROM alert WHERE id = ?').run(key.id)
  })
}

/**
 * Moves an alert from one cursor to the next, in the transaction that writes the results of the evaluation. Returns
 * false, and writes nothing, when the alert was changed, disabled or deleted meanwhile: the results are then void.
 * `dueAt`: before it nothing more is due; 0 when that is unknown.
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

/** Returns all domains of an organization, in the form that alerts need. */
export function watchedDomains(db: Db, orgId: string): WatchedDomain[] {
  return db.prepare<[string], WatchedDomain>('SELECT id, createdAt FROM domain WHERE orgId = ? ORDER BY id').all(orgId)
}
