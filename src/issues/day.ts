import type { Instant } from '../core/clock.ts'
import { type Db, prepared } from '../store/database.ts'
import type { HistoryKind, IssueRecord } from './issue.ts'
import { ISSUE_COLUMNS, type IssueRow, recordOf } from './store.ts'

export interface Span {
  from: Instant
  to: Instant
}

const MOVED = `orgId = @orgId AND EXISTS (
  SELECT 1 FROM issueHistory WHERE issueHistory.issueId = issue.id AND createdAt >= @from AND createdAt < @to
    AND kind IN (SELECT value FROM json_each(@kinds)))`

const bound = (orgId: string, kinds: readonly HistoryKind[], span: Span) => ({
  ...{ orgId, kinds: JSON.stringify(kinds), from: span.from, to: span.to },
})

/** Returns the issues of an organization of which this happened with `from <= createdAt < to`, the gravest first. */
export function issuesMoved(db: Db, orgId: string, kinds: readonly HistoryKind[], span: Span): IssueRecord[] {
  return prepared<[object], IssueRow>(
    db,
    `SELECT ${ISSUE_COLUMNS} FROM issue WHERE ${MOVED}
     ORDER BY severityRank DESC, ifnull(impactValue, -1) DESC, lastSeenAt DESC, id DESC`,
  )
    .all(bound(orgId, kinds, span))
    .map(recordOf)
}

/** Returns how many there are. */
export function countMoved(db: Db, orgId: string, kinds: readonly HistoryKind[], span: Span): number {
  const count = prepared<[object], { count: number }>(db, `SELECT count(*) AS count FROM issue WHERE ${MOVED}`)
  return count.get(bound(orgId, kinds, span))?.count ?? 0
}
