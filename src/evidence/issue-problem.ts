import type { Alert } from '../alerts/alert.ts'
import { findAlert } from '../alerts/alert-store.ts'
import type { EvidenceContext } from '../alerts/types/evidence.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import type { Instant } from '../core/clock.ts'
import { orNull } from '../core/error.ts'
import type { Sources } from '../insights/insight.ts'
import { followedScope } from '../insights/series-scope.ts'
import type { IssueDetail, IssueRecord } from '../issues/issue.ts'
import { issueRecord } from '../issues/store.ts'
import { membersOf } from '../labels/store.ts'
import { timezoneOf } from '../org/store.ts'
import type { SeriesScope } from '../signals/series.ts'
import type { Db } from '../store/database.ts'

/** An issue with the data needed to find its events in the history. */
export interface IssueProblem extends EvidenceContext {
  issue: IssueRecord
  /** Occurrences of the issue by day. */
  occurrences: IssueDetail['occurrenceSeries']
  /**
   * The current alert. Null if it was deleted or has another type now; it is then unknown which events were in scope
   * and which values the rule treated as personal data.
   */
  rule: Alert | null
  /** The series in which the rule found an anomaly; null for other types and if the rule is unknown. */
  followed: SeriesScope | null
  /** Creation time of the issue's domain; 0 if the domain was deleted or the issue has no domain. */
  domainSince: Instant
  /** Time zone of the organization. */
  timezone: string
  now: Instant
  /** Events received before this have been deleted. */
  retainedFrom: Instant
}

/** Fails with `notFound` if the issue does not exist in the organization. */
export function problemOf(
  { db, privacy, retentionMs }: Pick<Sources, 'db' | 'privacy' | 'retentionMs'>,
  { id, occurrenceSeries }: Pick<IssueDetail, 'id' | 'occurrenceSeries'>,
  { orgId, now }: { orgId: string; now: Instant },
): IssueProblem {
  const issue = issueRecord(db, orgId, id)
  const alert = alertOrNull(db, orgId, issue.alertId)
  const members = membersOf(db, orgId)
  const rule = alert?.alertType === issue.alertType ? resolveLabels(alert, members) : null
  return {
    issue,
    occurrences: occurrenceSeries,
    rule,
    followed: rule && followedScope(db, issue, rule),
    privacy: privacy(),
    membersOf: members,
    domainSince: domainSince(db, issue.domainId),
    timezone: timezoneOf(db, orgId),
    now,
    retainedFrom: now - retentionMs,
  }
}

/** Returns the alert; null if it was deleted. */
export const alertOrNull = (db: Db, orgId: string, id: string): Alert | null =>
  orNull(() => findAlert(db, { orgId, id }))

function domainSince(db: Db, domainId: string | null): Instant {
  const row = db
    .prepare<[string | null], { createdAt: number }>('SELECT createdAt FROM domain WHERE id = ?')
    .get(domainId)
  return row?.createdAt ?? 0
}
