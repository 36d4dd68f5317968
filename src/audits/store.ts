import type { Instant } from '../core/clock.ts'
import { nextTime } from '../core/cron-schedule.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import type { Audit, AuditPage, AuditSettings, AuditStatus, AuditSummary, Differences } from './audit.ts'

/** Maximum number of waiting audits per organization. Further audits are rejected. */
const MAX_WAITING = 100
const RETRY_AFTER_S = 60

/** A stored audit. */
export interface StoredAudit {
  orgId: string
  /** Id of the first audit with the same name. */
  seriesId: string
  audit: Audit
  differences: Differences | null
}

interface AuditRow
  extends Pick<Audit, 'id' | 'domainId' | 'status' | 'region' | 'createdAt' | 'startedAt' | 'finishedAt' | 'error'> {
  orgId: string
  seriesId: string
  input: string
  summary: string
  differences: string | null
}

function storedAuditOf({ orgId, seriesId, input, summary, differences, ...row }: AuditRow): StoredAudit {
  const { id, domainId, status, region, createdAt, startedAt, finishedAt, error } = row
  const durationMs = startedAt === null || finishedAt === null ? null : finishedAt - startedAt
  return {
    orgId,
    seriesId,
    differences: differences === null ? null : JSON.parse(differences),
    audit: {
      ...(JSON.parse(input) as AuditSettings),
      id,
      domainId,
      status,
      region,
      createdAt,
      startedAt,
      finishedAt,
      durationMs,
      error,
      summary: JSON.parse(summary),
    },
  }
}

const NOTHING: AuditSummary = {
  pagesTotal: 0,
  pagesFailed: 0,
  vendors: 0,
  missing: 0,
  duplicates: 0,
  beforeConsent: 0,
  errors: 0,
}

/**
 * Stores a queued audit. Its schedule replaces the schedules of earlier audits with the same name. Throws `rateLimited`
 * when too many audits of the organization are waiting.
 */
export function queueAudit(
  db: Db,
  now: Instant,
  { orgId, settings, region }: { orgId: string; settings: AuditSettings; region: string },
): StoredAudit {
  return tx(db, () => {
    const waiting = prepared<[string], { count: number }>(
      db,
      `SELECT count(*) AS count FROM audit WHERE status = 'queued' AND orgId = ?`,
    ).get(orgId)
    if ((waiting?.count ?? 0) >= MAX_WAITING) {
      throw new AppError('rateLimited', `${MAX_WAITING} audits are already waiting; try again later`, RETRY_AFTER_S)
    }
    const { name, domainId, schedule, timezone } = settings
    const id = newId('run', now)
    const series = prepared<[string, string], { seriesId: string }>(
      db,
      'SELECT seriesId FROM audit WHERE orgId = ? AND name = ? ORDER BY id LIMIT 1',
    ).get(orgId, name)
    prepared<[string, string]>(db, 'UPDATE audit SET nextAt = NULL WHERE orgId = ? AND name = ?').run(orgId, name)
    prepared<[object]>(
      db,
      `INSERT INTO audit (id, orgId, seriesId, name, domainId, input, status, region, createdAt, summary, nextAt)
       VALUES (@id, @orgId, @seriesId, @name, @domainId, @input, 'queued', @region, @now, @summary, @nextAt)`,
    ).run({
      id,
      orgId,
      name,
      domainId,
      region,
      now,
      seriesId: series?.seriesId ?? id,
      input: JSON.stringify(settings),
      summary: JSON.stringify(NOTHING),
      nextAt: schedule === null ? null : nextTime(schedule, timezone, now),
    })
    return findAudit(db, { orgId, id })
  })
}

/**
 * Queues the audits that are due. Each audit is queued once, even if several scheduled times were missed. An audit is
 * skipped while an audit with the same name is queued or running.
 */
export function queueDueAudits(db: Db, now: Instant, report: (error: unknown) => void): void {
  const due = prepared<[Instant], AuditRow>(
    db,
    `SELECT * FROM audit WHERE nextAt <= ? AND NOT EXISTS (
       SELECT 1 FROM audit AS other WHERE other.orgId = audit.orgId AND other.name = audit.name
         AND other.status IN ('queued', 'running'))`,
  )
  for (const { orgId, audit } of due.all(now).map(storedAuditOf)) {
    try {
      queueAudit(db, now, { orgId, settings: settingsOf(audit), region: audit.region })
    } catch (error) {
      if (!(error instanceof AppError)) report(error)
    }
  }
}

/** Returns the settings from which the audit was created. */
function settingsOf(audit: Audit): AuditSettings {
  const { id: _, status: _1, createdAt: _2, startedAt: _3, finishedAt: _4, durationMs: _5, ...rest } = audit
  const { region: _6, error: _7, summary: _8, ...settings } = rest
  return settings
}

/** Returns the audit. Throws `notFound` when the organization has no such audit. */
export function findAudit(db: Db, audit: OrgRowKey): StoredAudit {
  return storedAuditOf(findOrgRow<AuditRow>(db, 'SELECT * FROM audit', audit, 'no such audit'))
}

/** SQL expressions by which audits can be sorted. */
const AUDIT_ORDERS = {
  createdAt: 'createdAt',
  name: 'lower(name)',
  status: 'status',
  pagesTotal: "summary ->> '$.pagesTotal'",
  missing: "summary ->> '$.missing'",
  beforeConsent: "summary ->> '$.beforeConsent'",
}
export const AUDIT_SORTS = Object.keys(AUDIT_ORDERS) as (keyof typeof AUDIT_ORDERS)[]

/** Returns a page of the matching audits, newest first by default. */
export function listAudits(
  db: Db,
  orgId: string,
  { name, status, sort, ...page }: { name?: string; status?: AuditStatus; sort?: string } & PageRequest,
): Page<Audit> {
  return readPage(db, page, {
    sort,
    orders: AUDIT_ORDERS,
    sql: `SELECT * FROM audit
      WHERE orgId = @orgId AND (@name IS NULL OR name = @name) AND (@status IS NULL OR status = @status)`,
    values: { orgId, name: name ?? null, status: status ?? null },
    sortBy: 'id',
    descending: true,
    itemOf: (row: AuditRow) => storedAuditOf(row).audit,
  })
}

/** Returns the queued audits of all organizations, oldest first. */
export function waitingAudits(db: Db): StoredAudit[] {
  return prepared<[], AuditRow>(db, `SELECT * FROM audit WHERE status = 'queued' ORDER BY id`).all().map(storedAuditOf)
}

/** Records the start of the crawl. Returns false when the audit has been deleted or has already started. */
export function beginAudit(db: Db, id: string, now: Instant): boolean {
  const sql = `UPDATE audit SET status = 'running', startedAt = ? WHERE id = ? AND status = 'queued'`
  return prepared<[Instant, string]>(db, sql).run(now, id).changes > 0
}

/**
 * Stores a page of a running audit and the current summary. Returns false when the audit has been deleted or has ended.
 */
export function addPage(db: Db, id: string, page: AuditPage, summary: AuditSummary): boolean {
  return tx(db, () => {
    const sql = `UPDATE audit SET summary = ? WHERE id = ? AND status = 'running'`
    const { changes } = prepared<[string, string]>(db, sql).run(JSON.stringify(summary), id)
    if (changes === 0) return false
    prepared<[string, number, string]>(db, 'INSERT INTO auditPage (auditId, number, page) VALUES (?, ?, ?)').run(
      id,
      summary.pagesTotal,
      JSON.stringify(page),
    )
    return true
  })
}

/**
 * Stores the outcome of an audit. Returns false and stores nothing when the audit has been deleted or has already
 * ended.
 */
export function endAudit(
  db: Db,
  id: string,
  { error, now, differences }: { error: string | null; now: Instant; differences: Differences | null },
): boolean {
  const { changes } = prepared<[object]>(
    db,
    `UPDATE audit SET status = @status, finishedAt = max(@now, coalesce(startedAt, 0)), error = @error,
       differences = @differences WHERE id = @id AND status IN ('queued', 'running')`,
  ).run({
    id,
    error,
    now,
    status: error === null ? 'finished' : 'failed',
    differences: differences === null ? null : JSON.stringify(differences),
  })
  return changes > 0
}

/** Cancels a queued or running audit and keeps its pages. Throws `notFound`, or `conflict` when it has ended. */
export function cancelAudit(db: Db, audit: OrgRowKey, now: Instant): void {
  findAudit(db, audit)
  const { changes } = prepared<[object]>(
    db,
    `UPDATE audit SET status = 'cancelled', finishedAt = max(@now, coalesce(startedAt, 0))
     WHERE id = @id AND status IN ('queued', 'running')`,
  ).run({ id: audit.id, now })
  if (changes === 0) throw new AppError('conflict', 'the audit has ended')
}

/** Marks audits that were interrupted by a shutdown or crash of the server as failed. Queued audits stay queued. */
export function failInterruptedAudits(db: Db, now: Instant): void {
  prepared<[Instant]>(
    db,
    `UPDATE audit SET status = 'failed', finishedAt = max(?, startedAt), error = 'the server stopped during the run'
     WHERE status = 'running'`,
  ).run(now)
}

/** SQL expressions by which an audit's pages can be sorted. Not the URL, whose personal data is masked in answers. */
const PAGE_ORDERS = {
  status: "ifnull(page ->> '$.status', -1)",
  loadMs: "ifnull(page ->> '$.loadMs', -1)",
}
export const PAGE_SORTS = Object.keys(PAGE_ORDERS) as (keyof typeof PAGE_ORDERS)[]

/** Returns a page of the list of an audit's pages, by default in the order in which they were visited. */
export function listAuditPages(
  db: Db,
  auditId: string,
  { sort, ...page }: PageRequest & { sort?: string },
): Page<AuditPage> {
  return readPage(db, page, {
    sort,
    orders: PAGE_ORDERS,
    sql: 'SELECT number, page FROM auditPage WHERE auditId = @auditId',
    values: { auditId },
    sortBy: 'number',
    itemOf: (row: { number: number; page: string }): AuditPage => JSON.parse(row.page),
  })
}

/** Returns all pages of an audit. */
export const pagesOf = (db: Db, auditId: string): AuditPage[] => listAuditPages(db, auditId, { limit: 10_000 }).items

/** Returns the finished audit with the same name that preceded this audit; null when there is none. */
export function finishedBefore(db: Db, orgId: string, { id, name }: { id: string; name: string }): Audit | null {
  const row = prepared<[string, string, string], AuditRow>(
    db,
    `SELECT * FROM audit WHERE orgId = ? AND name = ? AND id < ? AND status = 'finished' ORDER BY id DESC LIMIT 1`,
  ).get(orgId, name, id)
  return row ? storedAuditOf(row).audit : null
}

/** Deletes audits older than the retention period, except those with a schedule. */
export function removeOldAudits(db: Db, now: Instant): void {
  db.prepare(
    `DELETE FROM audit WHERE createdAt < ? AND status IN ('finished', 'failed', 'cancelled') AND nextAt IS NULL`,
  ).run(now - RECORD_RETENTION_MS)
}
