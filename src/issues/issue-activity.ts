import type { Instant } from '../core/clock.ts'
import { type Db, prepared } from '../store/database.ts'
import type { HistoryKind, IssueRecord, IssueStatus } from './issue.ts'
import { ISSUE_COLUMNS, type IssueRow, recordOf } from './store.ts'

/** Changes to an organization's issues in a time range. Issues are returned with their current values. */
interface IssueActivity {
  /** Opened or reopened in the range. */
  opened: IssueRecord[]
  /** Resolved in the range and still resolved at its end. */
  resolved: IssueRecord[]
  /** Issues that are open or acknowledged at the end of the range. */
  open: IssueRecord[]
  /** For each issue in `resolved`, the time for which it had been open. */
  resolvedAfterMs: number[]
}

/** History entries that change the status, with the new status. */
const STATUS_OF: Partial<Record<HistoryKind, IssueStatus>> = {
  opened: 'open',
  reopened: 'open',
  unmuted: 'open',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
  muted: 'muted',
}

interface Entry {
  issueId: string
  kind: HistoryKind
  createdAt: Instant
}

/** Returns the changes with `from <= t < to` for issues in these domains, or in all domains if null. */
export function issueActivity(
  db: Db,
  orgId: string,
  { from, to }: TimeRange,
  domainIds: readonly string[] | null,
): IssueActivity {
  // Issues that were resolved or muted before the range, and still are, did not change within it.
  const meant = `issue.orgId = @orgId AND (statusAt >= @from OR status IN ('open', 'acknowledged'))
    AND (@domainIds IS NULL OR domainId IN (SELECT value FROM json_each(@domainIds)))`
  const bound = { orgId, from, domainIds: domainIds && JSON.stringify(domainIds) }
  const issues = prepared<[object], IssueRow>(
    db,
    `SELECT ${ISSUE_COLUMNS} FROM issue WHERE ${meant}
     ORDER BY severityRank DESC, ifnull(impactValue, -1) DESC, occurrences DESC, id DESC`,
  ).all(bound)
  const entries = prepared<[object], Entry>(
    db,
    `SELECT issueId, kind, issueHistory.createdAt FROM issue JOIN issueHistory ON issueHistory.issueId = issue.id
     WHERE ${meant} AND issueHistory.createdAt < @to AND kind IN (SELECT value FROM json_each(@kinds)) ORDER BY seq`,
  ).all({ ...bound, to, kinds: JSON.stringify(Object.keys(STATUS_OF)) })
  const ofIssue = Map.groupBy(entries, ({ issueId }) => issueId)
  const found: IssueActivity = { opened: [], resolved: [], open: [], resolvedAfterMs: [] }
  for (const row of issues) {
    const { wasOpened, status, statusAt, openedAt } = replayHistory(ofIssue.get(row.id) ?? [], from)
    if (wasOpened) found.opened.push(recordOf(row))
    if (status === 'open' || status === 'acknowledged') found.open.push(recordOf(row))
    if (status !== 'resolved' || statusAt < from) continue
    found.resolved.push(recordOf(row))
    found.resolvedAfterMs.push(statusAt - openedAt)
  }
  return found
}

/** `status`: the last status; null if the history begins later. */
function replayHistory(entries: readonly Entry[], from: Instant) {
  let [wasOpened, statusAt, openedAt] = [false, 0, 0]
  let status: IssueStatus | null = null
  for (const { kind, createdAt } of entries) {
    // The muting of hosts has ended, which doesn't change the status.
    if (kind === 'unmuted' && status !== null && status !== 'muted') continue
    status = STATUS_OF[kind] ?? status
    statusAt = createdAt
    if (kind !== 'opened' && kind !== 'reopened') continue
    openedAt = createdAt
    wasOpened ||= createdAt >= from
  }
  return { wasOpened, status, statusAt, openedAt: openedAt || statusAt }
}

interface TimeRange {
  from: Instant
  to: Instant
}

const MOVED = `orgId = @orgId AND EXISTS (
  SELECT 1 FROM issueHistory WHERE issueHistory.issueId = issue.id AND createdAt >= @from AND createdAt < @to
    AND kind IN (SELECT value FROM json_each(@kinds)))`

const bound = (orgId: string, kinds: readonly HistoryKind[], span: TimeRange) => ({
  orgId,
  kinds: JSON.stringify(kinds),
  from: span.from,
  to: span.to,
})

/** Returns the issues with a history entry of these kinds and `from <= createdAt < to`, most severe first. */
export function issuesWithHistory(
  db: Db,
  orgId: string,
  kinds: readonly HistoryKind[],
  span: TimeRange,
): IssueRecord[] {
  return prepared<[object], IssueRow>(
    db,
    `SELECT ${ISSUE_COLUMNS} FROM issue WHERE ${MOVED}
     ORDER BY severityRank DESC, ifnull(impactValue, -1) DESC, lastSeenAt DESC, id DESC`,
  )
    .all(bound(orgId, kinds, span))
    .map(recordOf)
}

/** Returns the number of issues that `issuesWithHistory` returns. */
export function countIssuesWithHistory(db: Db, orgId: string, kinds: readonly HistoryKind[], span: TimeRange): number {
  const count = prepared<[object], { count: number }>(db, `SELECT count(*) AS count FROM issue WHERE ${MOVED}`)
  return count.get(bound(orgId, kinds, span))?.count ?? 0
}
