import { SEVERITIES, type Severity } from '../contract/severities.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantInput, OneOf, SeveralOf, SeveralTexts, type Static, Type } from '../core/schema.ts'
import { findProject } from '../domains/project-store.ts'
import { DEFAULT_LIMIT, decodeCursor, fieldOfSort, type Page, page, pagingFields } from '../http/paging.ts'
import { windowsInForce } from '../maintenance/store.ts'
import { type Db, likePattern, prepared } from '../store/database.ts'
import { ISSUE_STATUSES, type Issue, type IssueRecord } from './issue.ts'
import { ISSUE_KINDS } from './issue-kinds.ts'
import { ISSUE_COLUMNS, type IssueRow, issueOf, recordOf } from './store.ts'

const SORTS = ['severity', 'impactValue', 'lastSeenAt', 'firstSeenAt', 'occurrences', 'status', 'title'] as const
type Sort = (typeof SORTS)[number]

export const IssueQuerySchema = Closed({
  status: Type.Optional(SeveralOf(ISSUE_STATUSES)),
  severity: Type.Optional(SeveralOf(SEVERITIES)),
  alertId: Type.Optional(SeveralTexts()),
  domainId: Type.Optional(SeveralTexts()),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: "Only issues of this project's domains" })),
  alertType: Type.Optional(SeveralOf(ISSUE_KINDS)),
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the title, notes or ticket key, or the exact id' }),
  ),
  assigneeId: Type.Optional(
    SeveralTexts({ description: 'Ids of members; `me`: the caller; `none`: issues that are assigned to nobody' }),
  ),
  since: Type.Optional(InstantInput({ description: 'Only issues last seen since this Unix time in milliseconds' })),
  sort: Type.Optional(
    OneOf([...SORTS, ...SORTS.map((name): `-${Sort}` => `-${name}`)], {
      default: 'severity',
      description: 'Field to sort by, most severe or recent first; with `-` in reverse',
    }),
  ),
  ...pagingFields,
})
export type IssueQuery = Static<typeof IssueQuerySchema>

/** Number of open issues by severity. */
type OpenCounts = Record<Severity, number>

/**
 * Columns of each sort order, whose values also form the cursor. Sorted in descending order, or in ascending order with
 * `-`. Unique per issue.
 */
const ORDER: Record<Sort, readonly string[]> = {
  severity: ['severityRank', 'ifnull(impactValue, -1)', 'lastSeenAt', 'id'],
  impactValue: ['ifnull(impactValue, -1)', 'severityRank', 'lastSeenAt', 'id'],
  lastSeenAt: ['lastSeenAt', 'severityRank', 'ifnull(impactValue, -1)', 'id'],
  firstSeenAt: ['firstSeenAt', 'severityRank', 'ifnull(impactValue, -1)', 'id'],
  occurrences: ['occurrences', 'severityRank', 'lastSeenAt', 'id'],
  status: ['status', 'severityRank', 'lastSeenAt', 'id'],
  title: ['lower(title)', 'id'],
}

type Conditions = { sql: string[]; values: Statement['values'] }

function conditionsOf(orgId: string, query: IssueQuery): Conditions {
  const sql = ['orgId = ?']
  const values: Conditions['values'] = [orgId]
  for (const column of ['status', 'severity', 'alertId', 'domainId', 'alertType'] as const) {
    const wanted = query[column]
    if (wanted === undefined) continue
    sql.push(`${column} IN (${wanted.map(() => '?').join(', ')})`)
    values.push(...wanted)
  }
  if (query.projectId !== undefined) {
    sql.push('domainId IN (SELECT id FROM domain WHERE orgId = ? AND projectId = ?)')
    values.push(orgId, query.projectId)
  }
  if (query.assigneeId !== undefined) {
    const ids = query.assigneeId.filter((id) => id !== 'none')
    const isNobody = ids.length < query.assigneeId.length ? 'assigneeId IS NULL OR ' : ''
    sql.push(`(${isNobody}assigneeId IN (${ids.map(() => '?').join(', ')}))`)
    values.push(...ids)
  }
  if (query.since !== undefined) {
    sql.push('lastSeenAt >= ?')
    values.push(query.since)
  }
  if (query.q) {
    const pattern = likePattern(query.q)
    sql.push(`(id = ? OR title LIKE ? ESCAPE '\\' OR notes LIKE ? ESCAPE '\\' OR trackerKey LIKE ? ESCAPE '\\')`)
    values.push(query.q, pattern, pattern, pattern)
  }
  return { sql, values }
}

/** A SQL statement and its parameters. */
type Statement = { sql: string; values: (string | number | null)[] }

/** Selects one row more than the page size, to detect whether there is a next page. */
export function listStatement(orgId: string, query: IssueQuery): Statement {
  const { sort = 'severity', limit = DEFAULT_LIMIT } = query
  const { field, descending: isReversed } = fieldOfSort<Sort>(sort)
  const order = ORDER[field]
  const [follows, direction] = isReversed ? ['>', 'ASC'] : ['<', 'DESC']
  const { sql, values } = conditionsOf(orgId, query)
  const place = decodeCursor(query.cursor, order.length + 1)
  if (place) {
    const [placeSort, ...after] = place
    if (placeSort !== sort) throw new AppError('invalid', `cursor: is not valid for a list sorted by ${sort}`)
    sql.push(`(${order.join(', ')}) ${follows} (${order.map(() => '?').join(', ')})`)
    values.push(...after)
  }
  const places = order.map((expression, index) => `${expression} AS place${index}`).join(', ')
  return {
    sql: `SELECT ${ISSUE_COLUMNS}, ${places} FROM issue WHERE ${sql.join(' AND ')}
          ORDER BY ${order.map((expression) => `${expression} ${direction}`).join(', ')} LIMIT ?`,
    values: [...values, limit + 1],
  }
}

/**
 * Returns one page of issues that match every filter. A filter with several values matches any of them. `since`: last
 * seen at or after this time. `q` matches ASCII letters case-insensitively. Issues without an impact value come last.
 * `now`: adds the maintenance windows in force. Fails with `notFound` for an unknown project, and with `invalid` if the cursor does not belong to this list and sort
 * order.
 */
export function listIssues(db: Db, orgId: string, query: IssueQuery, now?: Instant): Page<Issue> {
  const { sort = 'severity', limit = DEFAULT_LIMIT, projectId } = query
  if (projectId !== undefined) findProject(db, { orgId, id: projectId })
  const { sql, values } = listStatement(orgId, query)
  const rows = db.prepare<unknown[], IssueRow & Record<`place${number}`, string | number>>(sql).all(...values)
  const { items, nextCursor } = page(rows, limit, (row) => [
    sort,
    ...ORDER[fieldOfSort<Sort>(sort).field].map((_, index) => row[`place${index}`] ?? null),
  ])
  const inMaintenance = now === undefined ? undefined : windowsInForce(db, orgId, now)
  return { items: items.map((row) => issueOf(recordOf(row), inMaintenance)), nextCursor }
}

/** Returns all open and acknowledged issues of an organization, or of one of its domains, oldest first. */
export function unresolvedIssues(db: Db, orgId: string, domainId: string | null = null): IssueRecord[] {
  return db
    .prepare<[object], IssueRow>(
      `SELECT ${ISSUE_COLUMNS} FROM issue
       WHERE orgId = @orgId AND status IN ('open', 'acknowledged') AND (@domainId IS NULL OR domainId = @domainId)
       ORDER BY firstSeenAt, id`,
    )
    .all({ orgId, domainId })
    .map(recordOf)
}

/** Returns the number of open issues for each of these alerts or domains, including zeros. */
export function openIssuesOf(
  db: Db,
  orgId: string,
  column: 'alertId' | 'domainId',
  ids: readonly string[],
): Record<string, number> {
  const rows = db
    .prepare<[string, string], { id: string; count: number }>(
      `SELECT ${column} AS id, count(*) AS count FROM issue
       WHERE orgId = ? AND status = 'open' AND ${column} IN (SELECT value FROM json_each(?)) GROUP BY ${column}`,
    )
    .all(orgId, JSON.stringify(ids))
  const counts = new Map(rows.map(({ id, count }) => [id, count]))
  return Object.fromEntries(ids.map((id) => [id, counts.get(id) ?? 0]))
}

/** Number of days in `dailyCounts`. */
export const TREND_DAYS = 14

/**
 * Returns the occurrences of each of these issues by UTC day, oldest first, over the 14 days up to `now`. Days without
 * occurrences are 0.
 */
export function dailyCountsOf(db: Db, issueIds: readonly string[], now: Instant): Record<string, number[]> {
  const dayOf = (at: Instant) => new Date(at).toISOString().slice(0, 10)
  const days = Array.from({ length: TREND_DAYS }, (_, index) => dayOf(now - (TREND_DAYS - 1 - index) * DAY_MS))
  const rows = prepared<[string, string], { issueId: string; day: string; count: number }>(
    db,
    'SELECT issueId, day, count FROM issueOccurrence WHERE issueId IN (SELECT value FROM json_each(?)) AND day >= ?',
  ).all(JSON.stringify(issueIds), days[0] ?? '')
  const counts = new Map(rows.map(({ issueId, day, count }) => [`${issueId} ${day}`, count]))
  return Object.fromEntries(issueIds.map((id) => [id, days.map((day) => counts.get(`${id} ${day}`) ?? 0)]))
}

/**
 * Returns, for each of these alerts with unresolved issues, whether it is violated or all of its issues are muted. An
 * acknowledged issue counts until a whole window passes without an occurrence.
 */
export function issueStatesOf(
  db: Db,
  orgId: string,
  alertIds: readonly string[],
): Record<string, 'violated' | 'muted'> {
  const rows = prepared<[string, string], { alertId: string; isViolated: number }>(
    db,
    `SELECT alertId, max(status <> 'muted') AS isViolated FROM issue
     WHERE orgId = ? AND alertId IN (SELECT value FROM json_each(?))
       AND (status IN ('open', 'muted') OR (status = 'acknowledged' AND firing = 1)) GROUP BY alertId`,
  ).all(orgId, JSON.stringify(alertIds))
  return Object.fromEntries(rows.map(({ alertId, isViolated }) => [alertId, isViolated === 1 ? 'violated' : 'muted']))
}

/** Returns the number of open issues of the organization by severity, regardless of filters. */
export function openCounts(db: Db, orgId: string): OpenCounts {
  const counts: OpenCounts = { critical: 0, high: 0, medium: 0, low: 0 }
  const rows = db
    .prepare<[string], { severity: Severity; count: number }>(
      `SELECT severity, count(*) AS count FROM issue WHERE orgId = ? AND status = 'open' GROUP BY severity`,
    )
    .all(orgId)
  for (const { severity, count } of rows) counts[severity] = count
  return counts
}
