import type { Alert } from '../alerts/alert.ts'
import { windowAt } from '../alerts/alert-period.ts'
import { createAlert, findAlert, updateAlert } from '../alerts/alert-store.ts'
import { scheduleOf } from '../alerts/due-windows.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Clock } from '../core/clock.ts'
import { orNull } from '../core/error.ts'
import { countText } from '../core/text.ts'
import type { Enqueue } from '../issues/issue.ts'
import { REOPEN_WITHIN_MS } from '../issues/reconcile-issues.ts'
import { applyFindings, findIssue, setStatus } from '../issues/store.ts'
import type { Db } from '../store/database.ts'
import { alertForFindings, subjectOf } from './alert-for-compliance-findings.ts'
import { isConsentKind } from './compliance-finding.ts'
import { decide, requireFindings, type StoredFinding } from './store.ts'

export interface FilingDeps {
  db: Db
  clock: Clock
  enqueue: Enqueue
  privacyOf(orgId: string): Privacy
  /** Called after alerts have been created or changed. */
  alertsChanged(ids: readonly string[]): void
}

/** A request to file the findings of a key: all of them when `kind` is null, otherwise only those of one kind. */
export interface Filing {
  orgId: string
  userId: string
  vendor: string
  key: string
  kind: string | null
  note?: string
}

/**
 * Files the findings for one vendor and key. Each finding is linked to the issue of a validation alert that checks
 * future events. Findings of personal data share one alert, with a condition for each filed kind; each kind of consent
 * finding has a separate alert. While the issue is unresolved, filing again only changes the note.
 *
 * Returns the id of the first issue. Throws `notFound` when the finding does not exist. Runs in the current
 * transaction.
 */
export function fileFindings(parts: FilingDeps, filing: Filing): string {
  const found = requireFindings(parts.db, filing)
  const ofKey = requireFindings(parts.db, { ...filing, kind: null })
  const groups = [...Map.groupBy(found, groupOf)].map(([group, findings]) => {
    const known = ofKey.filter((one) => groupOf(one) === group)
    return fileTogether(parts, filing, findings, known)
  })
  return groups[0] ?? ''
}

/** Returns the group of a finding. Findings in the same group share an alert. */
const groupOf = ({ kind }: StoredFinding) => (isConsentKind(kind) ? kind : '')

/** Files the findings of one group. `known` contains all findings in the group, including those filed earlier. */
function fileTogether(
  parts: FilingDeps,
  filing: Filing,
  findings: readonly StoredFinding[],
  known: readonly StoredFinding[],
): string {
  const alert = alertFor(parts, filing.orgId, findings, known)
  const issueId = unresolvedIssue(parts, filing, known, alert) ?? openIssue(parts, alert, findings)
  const { note } = filing
  decide(parts.db, findings, { action: 'file', alertId: alert.id, issueId, ...(note === undefined ? {} : { note }) })
  return issueId
}

/** Returns the group's alert with a condition for each of these findings. Creates the alert if necessary. */
function alertFor(
  { db, clock, privacyOf, alertsChanged }: FilingDeps,
  orgId: string,
  findings: readonly StoredFinding[],
  known: readonly StoredFinding[],
): Alert {
  const input = alertForFindings(findings, privacyOf(orgId))
  const before = known.map(({ alertId: id }) => id && orNull(() => findAlert(db, { orgId, id }))).find(Boolean)
  if (!before) {
    const alert = createAlert(db, clock, orgId, input)
    alertsChanged([alert.id])
    return alert
  }
  const { id, orgId: _org, createdAt, updatedAt, ...rest } = before
  const { logic = 'any', items = [] } = rest.conditions ?? {}
  const missing = (input.conditions?.items ?? []).filter((one) => !items.some((item) => Bun.deepEquals(item, one)))
  // An alert whose rule has been edited by a user is not modified.
  if (missing.length === 0 || logic !== 'any' || rest.alertType !== input.alertType) return before
  alertsChanged([id])
  return updateAlert(db, clock, { orgId, id }, { ...rest, conditions: { logic, items: [...items, ...missing] } })
}

/** Returns the group's unresolved issue; null when there is none. Reopens an issue that was resolved recently. */
function unresolvedIssue(
  { db, clock, enqueue }: FilingDeps,
  { orgId, userId }: Filing,
  known: readonly StoredFinding[],
  alert: Alert,
): string | null {
  for (const { issueId } of known) {
    const issue = issueId && orNull(() => findIssue(db, orgId, issueId))
    if (!issue || issue.alertId !== alert.id) continue
    if (issue.status !== 'resolved') return issue.id
    const now = clock.now()
    const resolvedAt = issue.history.findLast(({ kind }) => kind === 'resolved')?.createdAt ?? 0
    if (now - resolvedAt > REOPEN_WITHIN_MS) continue
    setStatus(db, { orgId, by: userId, now }, issue.id, 'open', enqueue)
    return issue.id
  }
  return null
}

/** Opens the issue for the first domain. Issues for other domains open when their next violating event is received. */
function openIssue({ db, clock, enqueue }: FilingDeps, alert: Alert, findings: readonly StoredFinding[]): string {
  const now = clock.now()
  const { period, timezone } = scheduleOf(alert)
  const occurrences = findings.reduce((sum, { count }) => sum + count, 0)
  const [first] = findings
  const consent = first !== undefined && isConsentKind(first.kind)
  const changes = applyFindings(
    db,
    {
      alert: { ...alert, impactValue: alert.impactValue ?? null, periodMs: period.lengthMs },
      findings: [
        {
          domainId: first?.domainIds[0] ?? null,
          subject: '',
          vendor: first?.vendor || null,
          event: null,
          occurrences,
          observed: occurrences,
          expected: 0,
          summary: consent
            ? first.example
            : `${countText(occurrences)} values with ${subjectOf(findings)}, such as ${first?.example}`,
          firstAt: findings.reduce((at, { firstSeenAt }) => Math.min(at, firstSeenAt), now),
          // The issue resolves automatically after a period without violations, which starts now.
          lastAt: now,
          hosts: [],
          sample: null,
          sampleSeq: null,
        },
      ],
      window: { from: now, to: now + 1, complete: false },
      windowStartAt: windowAt(period, timezone, now).start,
      inRunWindow: true,
      now,
    },
    enqueue,
  )
  for (const change of changes) {
    if (change.kind === 'open') return change.issue.id
    if (change.kind !== 'withdraw') return change.issueId
  }
  throw new Error('filing opened no issue')
}
