import type { ChangeStatus } from '../contract/statuses.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { newId } from '../core/id.ts'
import { cutText } from '../core/text.ts'
import { DEFAULT_LIMIT, decodeCursor, type Page, type PageRequest, page } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import {
  type Change,
  type ChangeName,
  DEFAULT_WINDOW_MINUTES,
  isReported,
  type NewChange,
  NO_VERDICT,
  namesVersion,
  type Verdict,
} from './change.ts'

const MAX_TEXT = 200

interface ChangeRow extends Omit<Change, 'findings'> {
  findings: string
}

const changeOf = ({ findings, ...row }: ChangeRow): Change => ({ ...row, findings: JSON.parse(findings) })

const CHANGE_COLUMNS = `change.id, domain.name AS domain, change.domainId, source, ref, title, occurredAt, windowMinutes,
  status, findings`

/**
 * Stores a change with a watch window and returns its id. When a change with the same domain, source and ref exists,
 * returns its id and modifies nothing. A version in the traffic and a reported release that names it, at most an hour
 * apart, are one change: the reported one. Returns null when the domain does not exist or belongs to another
 * organization.
 */
export function noteChange(db: Db, now: Instant, change: NewChange): { id: string; isNew: boolean } | null {
  const { windowMinutes = DEFAULT_WINDOW_MINUTES, occurredAt, domainId, orgId, source } = change
  const ref = cutText(change.ref, MAX_TEXT)
  return tx(db, () => {
    const known = prepared<[object], { id: string }>(
      db,
      'SELECT id FROM change WHERE domainId = @domainId AND source = @source AND ref = @ref AND orgId = @orgId',
    ).get({ domainId, orgId, source, ref })
    if (known) return { id: known.id, isNew: false }
    const same = sameRelease(db, change)
    if (same && source === 'version') return { id: same, isNew: false }
    const id = same ?? newId('chg', now)
    const { changes } = prepared<[object]>(
      db,
      `INSERT INTO change (id, orgId, domainId, source, ref, title, occurredAt, windowMinutes, endsAt, status, findings, lookAt)
       SELECT @id, orgId, id, @source, @ref, @title, @occurredAt, @windowMinutes, @endsAt, 'watching', @findings, @occurredAt
       FROM domain WHERE id = @domainId AND orgId = @orgId
       ON CONFLICT (id) DO UPDATE SET source = excluded.source, ref = excluded.ref, title = excluded.title,
         occurredAt = excluded.occurredAt, windowMinutes = excluded.windowMinutes, endsAt = excluded.endsAt,
         status = excluded.status, findings = excluded.findings, lookAt = excluded.lookAt`,
    ).run({
      ...change,
      id,
      ref,
      windowMinutes,
      title: cutText(change.title, MAX_TEXT, '…'),
      endsAt: occurredAt + windowMinutes * MINUTE_MS,
      findings: JSON.stringify(NO_VERDICT),
    })
    return changes > 0 ? { id, isNew: true } : null
  })
}

/** Maximum time between the report of a release and its first event. */
const SAME_RELEASE_MS = HOUR_MS

/**
 * Returns the id of the change of the same release: for a version, a reported change that names it; for a reported
 * change, the version that it names. Null when there is none.
 */
function sameRelease(db: Db, { orgId, domainId, source, ref, title, occurredAt }: NewChange): string | null {
  const isVersion = source === 'version'
  if (!isVersion && !isReported(source)) return null
  const near = prepared<[object], Pick<Change, 'id' | 'source' | 'ref' | 'title'>>(
    db,
    `SELECT id, source, ref, title FROM change
     WHERE domainId = @domainId AND orgId = @orgId AND occurredAt BETWEEN @from AND @to
     ORDER BY abs(occurredAt - @occurredAt), id`,
  ).all({ domainId, orgId, occurredAt, from: occurredAt - SAME_RELEASE_MS, to: occurredAt + SAME_RELEASE_MS })
  const same = near.find((other) =>
    isVersion
      ? isReported(other.source) && namesVersion(other, ref)
      : other.source === 'version' && namesVersion({ ref, title }, other.ref),
  )
  return same?.id ?? null
}

/** A release of a domain: a version in its production traffic. */
export interface SeenRelease {
  version: number
  firstSeenAt: Instant
}

/** Maximum number of releases that `seenReleases` returns. */
export const MAX_SEEN_RELEASES = 200

/** Returns at most 200 releases of a domain, most recent first. */
export function seenReleases(db: Db, domainId: string): SeenRelease[] {
  return prepared<[string], SeenRelease>(
    db,
    `SELECT CAST(ref AS REAL) AS version, firstSeenAt FROM releaseSeen
     WHERE domainId = ? AND source = 'version' ORDER BY firstSeenAt DESC, version DESC LIMIT ${MAX_SEEN_RELEASES}`,
  ).all(domainId)
}

/** Records a change to a domain's settings in Tagwarden, in the current transaction. */
export function noteSetting(db: Db, now: Instant, { orgId, id }: { orgId: string; id: string }, what: string): void {
  const ref = `${new Date(now).toISOString()} ${what}`
  noteChange(db, now, { orgId, domainId: id, source: 'tagwarden', ref, title: what, occurredAt: now })
}

/** Returns the change; null when the organization has no change with this id. */
export function findChange(db: Db, { orgId, id }: { orgId: string; id: string }): Change | null {
  const row = prepared<[object], ChangeRow>(
    db,
    `SELECT ${CHANGE_COLUMNS} FROM change JOIN domain ON domain.id = change.domainId
     WHERE change.id = @id AND change.orgId = @orgId`,
  ).get({ id, orgId })
  return row ? changeOf(row) : null
}

export interface ChangeFilter {
  projectId?: string
  domainId?: string
  status?: ChangeStatus
}

/** Returns a page of the matching changes, newest first. Throws `invalid` for a cursor from another list. */
export function listChanges(
  db: Db,
  orgId: string,
  { projectId, domainId, status, cursor, limit = DEFAULT_LIMIT }: ChangeFilter & PageRequest,
): Page<Change> {
  const [occurredAt = null, id = null] = decodeCursor(cursor, 2) ?? []
  const rows = prepared<[object], ChangeRow>(
    db,
    `SELECT ${CHANGE_COLUMNS} FROM change JOIN domain ON domain.id = change.domainId
     WHERE change.orgId = @orgId AND (@projectId IS NULL OR domain.projectId = @projectId)
       AND (@domainId IS NULL OR change.domainId = @domainId) AND (@status IS NULL OR status = @status)
       AND (@id IS NULL OR (occurredAt, change.id) < (@occurredAt, @id))
     ORDER BY occurredAt DESC, change.id DESC LIMIT @limit + 1`,
  ).all({
    orgId,
    occurredAt,
    id,
    limit,
    projectId: projectId ?? null,
    domainId: domainId ?? null,
    status: status ?? null,
  })
  return page(rows.map(changeOf), limit, (change) => [change.occurredAt, change.id])
}

/** SQL for two instants: when the issue began, and when it was most recently opened or reopened. */
const OPENINGS = `SELECT @firstSeenAt AS at
  UNION ALL SELECT max(createdAt) FROM issueHistory WHERE issueId = @id AND kind IN ('opened', 'reopened')`

/**
 * SQL that tests whether the domain has sent events from one of the issue's hosts. Tests and audits may visit other
 * hosts.
 */
const IS_OF_ITS_HOSTS = `(@hosts IS NULL
  OR NOT EXISTS (SELECT 1 FROM hostname WHERE domainId = @domainId)
  OR EXISTS (SELECT 1 FROM json_each(@hosts) JOIN hostname ON hostname = value AND domainId = @domainId))`

const CHANGES_OF_ISSUE = `SELECT id, title, occurredAt FROM change
   WHERE domainId = @domainId AND orgId = @orgId AND ${IS_OF_ITS_HOSTS}
     AND EXISTS (SELECT 1 FROM (${OPENINGS}) WHERE occurredAt <= at AND endsAt > at)
   ORDER BY occurredAt DESC, id DESC`

/** The fields of an issue that are needed to find its changes. `id` is the id of the issue. */
interface Opened {
  id: string
  orgId: string
  domainId: string | null
  firstSeenAt: Instant
  /** Hosts, including their ports; null or empty when unknown. */
  hosts: readonly string[] | null
}

const boundsOf = ({ id, orgId, domainId, firstSeenAt, hosts }: Opened) => ({
  id,
  orgId,
  domainId,
  firstSeenAt,
  hosts: hosts?.length ? JSON.stringify(hosts.map((host) => host.replace(/:\d+$/, ''))) : null,
})

/**
 * Returns the changes in whose watch window the issue began or was most recently opened, latest first. An issue may
 * open after it began, because time windows are evaluated at their end. Returns an empty list when the issue does not
 * belong to exactly one domain, or when the domain has never sent an event from any of the issue's hosts.
 */
export function changesOfIssue(db: Db, issue: Opened): ChangeName[] {
  return prepared<[object], ChangeName>(db, CHANGES_OF_ISSUE).all(boundsOf(issue))
}

/** Returns the latest change in `changesOfIssue`; null when there is none. */
export function latestChangeOfIssue(db: Db, issue: Opened): ChangeName | null {
  return prepared<[object], ChangeName>(db, `${CHANGES_OF_ISSUE} LIMIT 1`).get(boundsOf(issue)) ?? null
}

/**
 * Returns at most `limit` changes with `from <= occurredAt < to`, oldest first. When there are more, returns the latest
 * ones. `domainId` is null for all domains.
 */
export function changesWithin(
  db: Db,
  {
    orgId,
    domainIds,
    from,
    to,
    limit,
  }: { orgId: string; domainIds: readonly string[] | null; from: Instant; to: Instant; limit: number },
): ChangeName[] {
  return prepared<[object], ChangeName>(
    db,
    `SELECT id, title, occurredAt FROM change
     WHERE orgId = @orgId AND occurredAt >= @from AND occurredAt < @to
       AND (@domainIds IS NULL OR domainId IN (SELECT value FROM json_each(@domainIds)))
     ORDER BY occurredAt DESC, id DESC LIMIT @limit`,
  )
    .all({ orgId, domainIds: domainIds && JSON.stringify(domainIds), from, to, limit })
    .reverse()
}

/** Like `changesWithin`, but newest first and with effects. */
export function changesIn(db: Db, orgId: string, scope: Omit<Parameters<typeof changesWithin>[1], 'orgId'>): Change[] {
  const ids = changesWithin(db, { orgId, ...scope }).map(({ id }) => id)
  return ids.reverse().flatMap((id) => findChange(db, { orgId, id }) ?? [])
}

/** Maximum number of changes that `changesWatched` returns. */
const MAX_WATCHED = 200

/** Returns at most 200 changes whose watch window overlaps `from <= t < to`, latest first. */
export function changesWatched(db: Db, orgId: string, { from, to }: { from: Instant; to: Instant }): Change[] {
  return prepared<[object], ChangeRow>(
    db,
    `SELECT ${CHANGE_COLUMNS} FROM change JOIN domain ON domain.id = change.domainId
     WHERE change.orgId = @orgId AND occurredAt < @to AND endsAt > @from
     ORDER BY occurredAt DESC, change.id DESC LIMIT ${MAX_WATCHED}`,
  )
    .all({ orgId, from, to })
    .map(changeOf)
}

/** A change that is due for evaluation. */
export interface WatchedChange {
  id: string
  orgId: string
  domainId: string
  source: string
  ref: string
  occurredAt: Instant
  endsAt: Instant
  status: ChangeStatus
  findings: Verdict
}

/**
 * Returns at most `limit` changes that are due for evaluation, with domains in rotation. Within a domain, the change
 * that has waited longest comes first.
 */
export function dueChanges(db: Db, now: Instant, limit: number): WatchedChange[] {
  return prepared<[number, number], Omit<WatchedChange, 'findings'> & { findings: string }>(
    db,
    `SELECT id, orgId, domainId, source, ref, occurredAt, endsAt, status, findings FROM change
     WHERE lookAt <= ? ORDER BY row_number() OVER (PARTITION BY domainId ORDER BY lookAt, id), lookAt, id LIMIT ?`,
  )
    .all(now, limit)
    .map((row) => ({ ...row, findings: JSON.parse(row.findings) }))
}

/** Stores a verdict and the time of the next evaluation, which is null after the last one. */
export function storeVerdict(
  db: Db,
  id: string,
  { status, findings, lookAt }: { status: ChangeStatus; findings: Verdict; lookAt: Instant | null },
): void {
  prepared<[object]>(
    db,
    'UPDATE change SET status = @status, findings = @findings, lookAt = @lookAt WHERE id = @id',
  ).run({ id, status, lookAt, findings: JSON.stringify(findings) })
}

/** Postpones an evaluation that failed or is not possible yet. */
export function postponeEvaluation(db: Db, id: string, lookAt: Instant): void {
  prepared<[number, string]>(db, 'UPDATE change SET lookAt = ? WHERE id = ?').run(lookAt, id)
}

/** Deletes changes older than the retention period. */
export function removeOldChanges(db: Db, now: Instant): void {
  db.prepare('DELETE FROM change WHERE occurredAt < ?').run(now - RECORD_RETENTION_MS)
}
