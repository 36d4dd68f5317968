import type { Alert } from '../alerts/alert.ts'
import { parsePeriod } from '../alerts/period.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { Closed, type Static, Type } from '../core/schema.ts'
import type { Db } from '../store/database.ts'
import type { IssueRecord } from './issue.ts'
import { issueKindOf, issueKinds } from './kinds.ts'
import { ISSUE_COLUMNS, type IssueRow, recordOf } from './store.ts'

/** A cause may be detected this much later than its effect. */
const LAG_MS = 2 * HOUR_MS
const MAX_CANDIDATES = 20

export const ExplanationSchema = Closed(
  { issueId: Type.String(), title: Type.String() },
  { description: 'The issue about the whole traffic of the domain, where that explains a fall' },
)
export type Explanation = Static<typeof ExplanationSchema>

/** An issue, and its current alert; null when that was deleted. */
interface IssueWithAlert {
  issue: IssueRecord
  rule: Alert | null
}

/** A time range in which an incident lasted. */
interface Episode {
  from: Instant
  through: Instant
}

/**
 * Returns the issue about the domain's whole traffic that explains a fall of a count: the one named by the last firing,
 * else one that was open at the same time and did not begin after it. Null when there is none, and for issues that are
 * no such fall.
 */
export function explanationOf(db: Db, trouble: IssueWithAlert): Explanation | null {
  const { issue } = trouble
  if (!issueKindOf(issue.alertType).countsFirings || issue.domainId === null || isOfDomain(issue) || isRise(trouble))
    return null
  const named = issue.evidence?.explainedBy
  const cause = named === undefined ? lookUp(db, trouble) : (newest(db, issue, named) ?? lookUp(db, trouble))
  return cause && { issueId: cause.id, title: cause.title }
}

/** True for an issue about the fall of the whole traffic of a domain, which explains others. */
export function isDomainFall(trouble: IssueWithAlert): boolean {
  return trouble.issue.domainId !== null && isOfDomain(trouble.issue) && !isRise(trouble)
}

/** Kinds whose issues without a subject are about all traffic of a domain. */
const EXPLAINING = issueKinds.flatMap(({ kind, explainsDrops }) => (explainsDrops ? [kind] : []))

const isOfDomain = ({ alertType, subject }: IssueRecord) => subject === '' && EXPLAINING.includes(alertType)

function isRise({ issue, rule }: IssueWithAlert): boolean {
  const isRise = rule && issueKindOf(rule.alertType).isRise?.(rule)
  if (isRise !== null && isRise !== undefined) return isRise
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

function lookUp(db: Db, { issue, rule }: IssueWithAlert): IssueRecord | null {
  const periodMs = rule ? parsePeriod(rule.period).lengthMs : HOUR_MS
  const own = episodesOf(db, issue, periodMs).at(-1)
  if (!own) return null
  const lagMs = Math.max(LAG_MS, periodMs)
  const goesAlong = ({ from, through }: Episode) =>
    from <= own.from + lagMs && from <= own.through && through >= own.from
  return candidates(db, issue, own).find((cause) => episodesOf(db, cause, HOUR_MS).some(goesAlong)) ?? null
}

/** Newest first. Issues of the issue's own alert are left out: its firing would have named them. */
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
 * Returns the episodes in order: from each opening to the resolution or reopening that follows; the last one to the
 * last occurrence, because an issue that is muted or acknowledged stays after its incident has ended. The window that
 * reopened an issue began a period before.
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
