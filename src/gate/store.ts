import { type Change, namesVersion } from '../changes/change.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import { RECORD_RETENTION_MS, type Retention } from '../store/retention.ts'
import { canBecomeBaseline } from './baseline.ts'
import type { GateRun, GateRunSummary } from './gate-run.ts'
import type { GateReport } from './report.ts'

/** Maximum number of stored runs per organization. Older ones are deleted, except approved ones. */
const MAX_RUNS = 1000
/** Shortest abbreviation of a commit that identifies it. */
const SHORT_COMMIT = /^[0-9a-f]{7,40}$/

const COLUMNS = 'id, name, ref, domainId, status, problems, createdAt, approvedAt'

/** Stores the report of a run and returns the run. */
export function storeGateRun(db: Db, orgId: string, report: GateReport, now: Instant): GateRun {
  const id = newId('gat', now)
  const problems = report.findings.length + report.moreFindings
  const status = problems > 0 ? 'failed' : 'passed'
  const { name, ref, domainId } = report
  prepared<[object]>(
    db,
    `INSERT INTO gateRun (id, orgId, domainId, name, ref, status, problems, createdAt, report)
     VALUES (@id, @orgId, @domainId, @name, @ref, @status, @problems, @now, @report)`,
  ).run({ id, orgId, domainId, name, ref, status, problems, now, report: JSON.stringify({ ...report, status }) })
  prepared<[object]>(
    db,
    `DELETE FROM gateRun WHERE orgId = @orgId AND approvedAt IS NULL
       AND id < (SELECT id FROM gateRun WHERE orgId = @orgId ORDER BY id DESC LIMIT 1 OFFSET ${MAX_RUNS - 1})`,
  ).run({ orgId })
  return findGateRun(db, { orgId, id })
}

/** Returns the run. Throws `notFound` when the organization has no such run. */
export function findGateRun(db: Db, run: OrgRowKey): GateRun {
  const { report, ...row } = findOrgRow<GateRunSummary & { report: string }>(
    db,
    `SELECT ${COLUMNS}, report FROM gateRun`,
    run,
    'no such run of the release gate',
  )
  return { ...row, report: JSON.parse(report) }
}

/** Approves a run as a baseline, or withdraws the approval. Throws `conflict` for a run that violates other checks. */
export function approveGateRun(
  db: Db,
  run: OrgRowKey,
  { approved, by, now }: { approved: boolean; by: string; now: Instant },
): GateRun {
  if (approved && !canBecomeBaseline(findGateRun(db, run).report)) {
    throw new AppError(
      'conflict',
      'the run has no events, or violates other checks than its baseline, so it can not be a baseline',
    )
  }
  prepared<[object]>(db, 'UPDATE gateRun SET approvedAt = @at, approvedBy = @by WHERE id = @id AND orgId = @orgId').run(
    { ...run, at: approved ? now : null, by: approved ? by : null },
  )
  return findGateRun(db, run)
}

export interface GateRunFilter {
  name?: string
  ref?: string
  domainId?: string
  status?: GateRunSummary['status']
  /** True: only approved runs. */
  approved?: boolean
}

/** Returns a page of the matching runs, newest first. */
export function listGateRuns(
  db: Db,
  orgId: string,
  { name, ref, domainId, status, approved, ...request }: GateRunFilter & PageRequest,
): Page<GateRunSummary> {
  return readPage<GateRunSummary, GateRunSummary>(db, request, {
    sql: `SELECT ${COLUMNS} FROM gateRun
      WHERE orgId = @orgId AND (@name IS NULL OR name = @name) AND (@ref IS NULL OR ref = @ref)
        AND (@domainId IS NULL OR domainId = @domainId) AND (@status IS NULL OR status = @status)
        AND (@approved IS NULL OR (approvedAt IS NOT NULL) = @approved)`,
    values: {
      orgId,
      name: name ?? null,
      ref: ref ?? null,
      domainId: domainId ?? null,
      status: status ?? null,
      approved: approved === undefined ? null : Number(approved),
    },
    sortBy: 'id',
    descending: true,
    itemOf: (row) => row,
  })
}

/**
 * Returns the latest run of the gate for the release that each change describes, by change id. A run belongs to a
 * change if its `ref` is that of the change, an abbreviation of the same commit, or names the same version, and if it
 * does not belong to another domain.
 */
export function gateRunsOf(
  db: Db,
  orgId: string,
  changes: readonly Pick<Change, 'id' | 'domainId' | 'source' | 'ref' | 'title'>[],
): Map<string, GateRunSummary> {
  const runs = prepared<[string], GateRunSummary>(
    db,
    `SELECT ${COLUMNS} FROM gateRun WHERE orgId = ? AND ref IS NOT NULL ORDER BY id DESC LIMIT ${MAX_RUNS}`,
  ).all(orgId)
  if (runs.length === 0) return new Map()
  return new Map(
    changes.flatMap((change) => {
      const run = runs.find(
        ({ ref, domainId }) =>
          ref !== null && (domainId === null || domainId === change.domainId) && isSameRelease(change, ref),
      )
      return run ? [[change.id, run] as const] : []
    }),
  )
}

function isSameRelease({ source, ref, title }: Pick<Change, 'source' | 'ref' | 'title'>, gateRef: string): boolean {
  if (ref === gateRef) return true
  if ([ref, gateRef].every((one) => SHORT_COMMIT.test(one))) return ref.startsWith(gateRef) || gateRef.startsWith(ref)
  return source === 'version' ? namesVersion({ ref: gateRef, title: '' }, ref) : namesSame(gateRef, { ref, title })
}

/** Returns whether a change names the version that the gate was given, such as `Release 41` and `v41`. */
function namesSame(gateRef: string, change: Pick<Change, 'ref' | 'title'>): boolean {
  const version = /^v?(\d+(?:\.\d+)?)$/i.exec(gateRef.trim())?.[1]
  return version !== undefined && namesVersion(change, version)
}

/** Returns a run for display, with personal data masked. */
export function maskedSummary<R extends GateRunSummary>(run: R, privacy: Privacy): R {
  const { name, ref } = run
  return { ...run, name: maskPersonal(name, '', privacy), ref: ref === null ? null : maskPersonal(ref, '', privacy) }
}

/** Fields of a report that are not text from a recording. */
const FIXED: ReadonlySet<string> = new Set(['format', 'status', 'kind', 'severity', 'id', 'domainId'])

/** Like `maskedSummary`, with the report. Programs other than `verify` may have sent it. */
export function maskedGateRun(run: GateRun, privacy: Privacy): GateRun {
  const mask = (value: unknown): unknown => {
    if (typeof value === 'string') return maskPersonal(value, '', privacy)
    if (Array.isArray(value)) return value.map(mask)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, FIXED.has(key) ? one : mask(one)]))
  }
  return { ...maskedSummary(run, privacy), report: mask(run.report) as GateReport }
}

/** Deletes runs older than the retention period. */
export const removeOldGateRuns: Retention = (db, now) => {
  db.prepare('DELETE FROM gateRun WHERE createdAt < ? AND approvedAt IS NULL').run(now - RECORD_RETENTION_MS)
}
