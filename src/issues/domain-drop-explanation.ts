import type { Alert } from '../alerts/alert.ts'
import { parsePeriod } from '../alerts/alert-period.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { Closed, type Static, Type } from '../core/schema.ts'
import type { Db } from '../store/database.ts'
import type { IssueRecord } from './issue.ts'
import { issueKindOf, issueKinds } from './issue-kinds.ts'
import { ISSUE_COLUMNS, type IssueRow, recordOf } from './store.ts'

/** Maximum delay between the detection of an effect and the later detection of its cause. */
const LAG_MS = 2 * HOUR_MS
const MAX_CANDIDATES = 20

export const ExplanationSchema = Closed(
  { issueId: Type.String(), title: Type.String() },
  { description: "Issue about a drop in all of the domain's traffic, which explains this issue" },
)
export type Explanation = Static<typeof ExplanationSchema>

/** An issue and its current alert; null if the alert was deleted. */
interface IssueWithAlert {
  issue: IssueRecord
  rule: Alert | null
}

/** Time range of an incident. */
interface Episode {
  from: Instant
  through: Instant
}

/**
 * For an issue about a drop in a count, returns the issue that explains it: an issue about a drop in all traffic of the
 * domain. If the last finding names such an issue, returns that issue; otherwise, one that was open at the same time
 * and did not begin later. Null if there is none, and for issues that are not about a drop.
 */
export function explanationOf(db: Db, problem: IssueWithAlert): Explanation | null {
  const { issue } = problem
  if (
    !issueKindOf(issue.alertType).messages.countsFirings ||
    issue.domainId === null ||
    isOfDomain(issue) ||
    isRise(problem)
  )
    return null
  const named = issue.evidence?.explainedBy
  const cause =
    named === undefined ? findOverlapping(db, problem) : (newest(db, issue, named) ?? findOverlapping(db, problem))
  return cause && { issueId: cause.id, title: cause.title }
}

/** True for an issue about a drop in all traffic of a domain, which explains other issues. */
export function isDomainFall(problem: IssueWithAlert): boolean {
  return problem.issue.domainId !== null && isOfDomain(problem.issue) && !isRise(problem)
}

/** Kinds whose issues without a subject are about all traffic of a domain. */
const EXPLAINING = issueKinds.flatMap(({ kind, messages }) => (messages.explainsDrops ? [kind] : []))

const isOfDomain = ({ alertType, subject }: IssueRecord) => subject === '' && EXPLAINING.includes(alertType)

function isRise({ issue, rule }: IssueWithAlert): boolean {
  const isRise = rule && issueKindOf(rule.alertType).messages.isRise(rule)
  if (isRise !== null) return isRise
  const { observed = null, expected = null } = issue.evidence ?? {}
  return observed !== null && expected !== null && observed > expected
}

function newest(db: Db, issue: IssueRecord, subject: string): IssueRecord | null {
  const row = db
    .prepare<[string, string, string | null, string, number], IssueRow>(
      `SELECT ${ISSUE_COLUMNS} FROM issue
       WHERE orgId = ? AND alertId = ? AND domainId = ? AND subject = ? AND lastSeenAt >= ?
       ORDER BY lastSeenAt DESC LIMIT 1`,
    )
    .get(issue.orgId, issue.alertId, issue.domainId, subject, issue.lastSeenAt - LAG_MS)
  return row ? recordOf(row) : null
}

function findOverlapping(db: Db, { issue, rule }: IssueWithAlert): IssueRecord | null {
  const periodMs = rule ? parsePeriod(rule.period).lengthMs : HOUR_MS
  const own = episodesOf(db, issue, periodMs).at(-1)
  if (!own) return null
  const lagMs = Math.max(LAG_MS, periodMs)
  const goesAlong = ({ from, through }: Episode) =>
    from <= own.from + lagMs && from <= own.through && through >= own.from
  return candidates(db, issue, own).find((cause) => episodesOf(db, cause, HOUR_MS).some(goesAlong)) ?? null
}

/** Newest first. Excludes issues of the same alert, because the alert's finding would have named them. */
function candidates(db: Db, { orgId, domainId, alertId }: IssueRecord, { from, through }: Episode): IssueRecord[] {
  return db
    .prepare<[string, string | null, string, string, number, number, number], IssueRow>(
      `SELECT ${ISSUE_COLUMNS} FROM issue
       WHERE orgId = ? AND domainId = ? AND alertType IN (SELECT value FROM json_each(?)) AND subject = '' AND alertId <> ?
         AND firstSeenAt <= ? AND lastSeenAt >= ?
       ORDER BY lastSeenAt DESC LIMIT ?`,
    )
    .all(orgId, domainId, JSON.stringify(EXPLAINING), alertId, through, from, MAX_CANDIDATES)
    .map(recordOf)
}

/**
 * Returns the episodes in order, each from an opening to the next resolution or reopening. The last episode ends at the
 * last occurrence, because a muted or acknowledged issue outlasts its incident. For a reopened issue, the episode
 * starts one period earlier, at the start of the window that reopened it.
 */
function episodesOf(db: Db, { id, firstSeenAt, lastSeenAt }: IssueRecord, periodMs: number): Episode[] {
  const entries = db
    .prepare<[string], { kind: string; createdAt: Instant }>(
      `SELECT kind, createdAt FROM issueHistory
       WHERE issueId = ? AND kind IN ('reopened', 'resolved') ORDER BY seq`,
    )
    .all(id)
  const episodes: Episode[] = []
  let from: Instant | null = firstSeenAt
  for (const { kind, createdAt } of entries) {
    if (from !== null) episodes.push({ from, through: createdAt })
    from = kind === 'reopened' ? createdAt - periodMs : null
  }
  if (from !== null) return [...episodes, { from, through: lastSeenAt }]
  const last = episodes.pop()
  return last ? [...episodes, { ...last, through: Math.min(last.through, lastSeenAt) }] : episodes
}
