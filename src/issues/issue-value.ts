import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import type { Db } from '../store/database.ts'

/** Maximum number of issues that are listed with their value. */
const MAX_TOP = 10
/** Maximum time since its resolution for an issue to be considered recently resolved. */
const RECENT_MS = 30 * DAY_MS

const TopIssueSchema = Closed({
  id: Type.String(),
  title: Type.String(),
  status: Type.String(),
  severity: Type.String(),
  impactValue: Type.Number(),
  occurrences: Int(),
})

/** Fields of `OrgValue` derived from issues. */
export const issueValueFields = {
  openValue: Type.Number({ description: 'Total value of open and acknowledged issues' }),
  resolvedValue30d: Type.Number({ description: 'Total value of issues resolved in the last 30 days and not reopened' }),
  resolvedValueTotal: Type.Number({ description: 'Total value of all resolved issues' }),
  topIssues: Type.Array(TopIssueSchema, {
    maxItems: MAX_TOP,
    description: 'Open and acknowledged issues with a value, largest first',
  }),
}

const IssueValueObject = Type.Object(issueValueFields)
type IssueValue = Static<typeof IssueValueObject>

/**
 * Returns sums of the impact values of an organization's issues; 0 if no issue has a value. Muted issues are not
 * included.
 */
export function issueValueOf(db: Db, orgId: string, now: Instant): IssueValue {
  // `total` returns a double, so sums of large integers never overflow.
  const sums = db
    .prepare<[object], Omit<IssueValue, 'topIssues'>>(
      `SELECT total(impactValue) FILTER (WHERE status IN ('open', 'acknowledged')) AS openValue,
         total(impactValue) FILTER (WHERE status = 'resolved' AND statusAt >= @since) AS resolvedValue30d,
         total(impactValue) FILTER (WHERE status = 'resolved') AS resolvedValueTotal
       FROM issue WHERE orgId = @orgId`,
    )
    .get({ orgId, since: now - RECENT_MS })
  const topIssues = db
    .prepare<[string, number], IssueValue['topIssues'][number]>(
      `SELECT id, title, status, severity, impactValue, occurrences FROM issue
       WHERE orgId = ? AND status IN ('open', 'acknowledged') AND impactValue > 0
       ORDER BY impactValue DESC, severityRank DESC, lastSeenAt DESC, id DESC LIMIT ?`,
    )
    .all(orgId, MAX_TOP)
  return { ...(sums ?? { openValue: 0, resolvedValue30d: 0, resolvedValueTotal: 0 }), topIssues }
}
