import type { AlertChannel } from '../alerts/alert.ts'
import { causesNotification, type Finding, type Window } from '../alerts/finding.ts'
import type { Severity } from '../contract/severities.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { momentText } from '../core/moment-text.ts'
import {
  type Change,
  type HistoryKind,
  type IssueRecord,
  incidentKey,
  issueTitle,
  MAX_HOSTS,
  type Notice,
} from './issue.ts'
import { issueKindOf } from './issue-kinds.ts'

/** Time within which a resolved issue that fires again is reopened; after that, a new issue is opened. */
export const REOPEN_WITHIN_MS = 7 * DAY_MS
/** Number of complete windows without a firing after which an issue about counts is resolved. */
const CLEAR_WINDOWS = 2
/** Minimum time without a violation after which an issue about violations is resolved. */
const MIN_QUIET_MS = 24 * HOUR_MS
const QUIET_PERIODS = 3

/** Fields that an issue copies from its alert, flow test or audit. */
export interface AlertFacts {
  id: string
  orgId: string
  name: string
  alertType: string
  severity: Severity
  impactValue: number | null
  periodMs: number
}

/** One evaluation of one alert, to be compared with the alert's issues. */
export interface Evaluation {
  alert: AlertFacts
  /** Time zone of the organization, for times in the history. */
  timezone: string
  /** The alert's latest issue for each domain and subject: unresolved, or resolved within `REOPEN_WITHIN_MS`. */
  issues: readonly IssueRecord[]
  /** The findings of this evaluation. Each violation is included in the findings of only one evaluation. */
  findings: readonly Finding[]
  window: Window
  /** Start of the alert's window that contains `window`; at most `window.from`. */
  windowStartAt: Instant
  /** False when the evaluation is outside the alert's run windows. */
  inRunWindow: boolean
  /** Channels of the issues, if no alert defines them. */
  channels?: readonly AlertChannel[]
  /**
   * Returns the part of `from <= t < to`, in ms, that is covered by collection gaps, which do not count as quiet time.
   * When absent, there are no gaps.
   */
  gapMs?: (from: Instant, to: Instant) => number
  now: Instant
  /** Returns the id of a new issue. */
  newId: () => string
}

/**
 * Compares the findings of an evaluation with the existing issues and returns the changes.
 * A partial window (`complete: false`) opens and reopens issues and counts occurrences; only a complete window clears
 * or resolves issues. Violations are reported again when their window ends; firings of a count are reported
 * immediately. Each window is reported once; a window of counts is also counted only once. A finding that continues, or
 * is explained by another one, only keeps an unresolved issue open.
 * Outside the run windows, issues are not opened, reopened, cleared or resolved, and no notifications are sent.
 * Violations are still counted on an unresolved issue, because a violation does not depend on the time of day. Counts
 * of windows are ignored, because the alert does not define normal values for those hours. A muted issue stays muted
 * until a user unmutes it: if it were resolved after quiet windows, its next firing would send a notification.
 * If only some hosts are muted, a finding on another host reopens the muted issue. A finding on muted hosts only is
 * counted and has no other effect, whatever the status of the issue.
 */
export function reconcile(evaluation: Evaluation): Change[] {
  const { findings, issues, window, inRunWindow } = evaluation
  const fired = new Map<string, Finding>()
  for (const finding of findings) {
    const key = incidentKey(finding)
    const other = fired.get(key)
    fired.set(key, other ? merge(other, finding) : finding)
  }
  const known = new Map(issues.map((issue) => [incidentKey(issue), issue]))
  const changes = [...fired].flatMap(([key, finding]) => onFinding(evaluation, known.get(key), finding))
  if (!window.complete || !inRunWindow) return changes
  const silent = [...known].filter(([key, issue]) => !fired.has(key) && issue.status !== 'resolved')
  return [...changes, ...silent.flatMap(([, issue]) => onSilence(evaluation, issue))]
}

function merge(a: Finding, b: Finding): Finding {
  const [earlier, later] = a.lastAt <= b.lastAt ? [a, b] : [b, a]
  return {
    ...(causesNotification(a) || causesNotification(b) ? withoutMarks(later) : later),
    occurrences: a.occurrences + b.occurrences,
    firstAt: Math.min(a.firstAt, b.firstAt),
    hosts: [...new Set([...later.hosts, ...earlier.hosts])].slice(0, MAX_HOSTS),
  }
}

/**
 * Merges the finding with the findings from earlier parts of its window. The issue then describes the whole window, but
 * only the new finding is counted.
 */
function windowSoFar({ alert, windowStartAt }: Evaluation, issue: IssueRecord, finding: Finding): Finding {
  const before = issue.evidence
  if (issueKindOf(alert.alertType).messages.countsFirings || !before || issue.lastSeenAt < windowStartAt) return finding
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b)
  const whole: Finding = {
    ...merge(before, finding),
    vendor: before.vendor === finding.vendor ? finding.vendor : null,
    event: before.event === finding.event ? finding.event : null,
    observed: sum(before.observed, finding.observed),
  }
  const summary = issueKindOf(alert.alertType).messages.summarize(whole)
  return summary === null ? whole : { ...whole, summary }
}

function withoutMarks({ continues: _continues, explainedBy: _explainedBy, ...finding }: Finding): Finding {
  return finding
}

function onFinding(evaluation: Evaluation, issue: IssueRecord | undefined, finding: Finding): Change[] {
  const { alert, inRunWindow, now } = evaluation
  if (!causesNotification(finding)) return keep(evaluation, issue, finding)
  if (!issue || (issue.status === 'resolved' && issue.mutedHosts === null && now - issue.statusAt > REOPEN_WITHIN_MS)) {
    return inRunWindow ? open(evaluation, finding) : []
  }
  const isOnMutedHosts = isMutedOn(issue, finding)
  if (isOnMutedHosts && issue.status !== 'muted')
    return inRunWindow ? count(evaluation, issue, finding) : keep(evaluation, issue, finding)
  if (issue.status === 'resolved' || (issue.mutedHosts !== null && issue.status === 'muted' && !isOnMutedHosts)) {
    if (!inRunWindow) return keep(evaluation, issue, finding)
    // A violation that precedes a manual change does not reopen the issue, regardless of how late it is evaluated.
    const isStale = issue.statusBy !== null && occurredAt(evaluation, finding) < issue.statusAt
    if (isStale) return count(evaluation, issue, finding)
    return reopen(evaluation, issue, finding)
  }
  if (!inRunWindow) return issueKindOf(alert.alertType).messages.countsFirings ? [] : count(evaluation, issue, finding)
  if (issue.status === 'acknowledged' && !issue.firing) return reopen(evaluation, issue, finding)
  return [
    ...count(evaluation, issue, finding, { firing: true, clearWindows: 0 }),
    ...report(evaluation, issue, windowSoFar(evaluation, issue, finding)),
  ]
}

/** True if all hosts of the finding are muted. A finding without hosts is not on a muted host. */
function isMutedOn({ mutedHosts }: IssueRecord, { hosts }: Finding): boolean {
  return mutedHosts !== null && hosts.length > 0 && hosts.every((host) => mutedHosts.includes(host))
}

function keep(evaluation: Evaluation, issue: IssueRecord | undefined, finding: Finding): Change[] {
  const { alert, inRunWindow } = evaluation
  if (!issue || issue.status === 'resolved' || (!inRunWindow && issueKindOf(alert.alertType).messages.countsFirings))
    return []
  return count(evaluation, issue, finding, inRunWindow ? { clearWindows: 0 } : {})
}

/**
 * Handles the end of a window, inside the run windows, in which the last evaluation had no finding for this unresolved
 * issue.
 */
function onSilence(evaluation: Evaluation, issue: IssueRecord): Change[] {
  const { alert, window, windowStartAt } = evaluation
  // An earlier part of this window fired and was counted at that time. For counts, it was also reported at that time.
  if (issueKindOf(alert.alertType).messages.countsFirings) {
    if (issue.lastSeenAt >= windowStartAt) return []
  } else if (issue.firing && issue.lastSeenAt >= windowStartAt) return report(evaluation, issue, issue.evidence)
  const clearWindows = Math.min(issue.clearWindows + 1, CLEAR_WINDOWS)
  if (issue.status !== 'muted' && isOver(evaluation, issue, clearWindows)) return resolve(evaluation, issue, window)
  if (!issue.firing && issue.clearWindows === clearWindows) return []
  return [{ kind: 'update', issueId: issue.id, values: { firing: false, clearWindows } }]
}

function isOver({ alert, window, gapMs }: Evaluation, issue: IssueRecord, clearWindows: number): boolean {
  const kind = issueKindOf(alert.alertType)
  if (kind.clearsAtOnce) return true
  if (kind.messages.countsFirings) return clearWindows >= CLEAR_WINDOWS
  // The quiet time of a manually opened issue starts again; otherwise the next evaluation would resolve the issue.
  const openedByHandAt = issue.status === 'open' && issue.statusBy !== null ? issue.statusAt : 0
  const quietFrom = Math.max(issue.lastSeenAt, openedByHandAt)
  const quietMs = window.to - quietFrom - (gapMs?.(quietFrom, window.to) ?? 0)
  return quietMs >= Math.max(MIN_QUIET_MS, QUIET_PERIODS * alert.periodMs)
}

const channelsOf = ({ channels }: Evaluation) => (channels === undefined ? null : [...channels])

/** Returns the time of the finding's last occurrence. The end of a window is exclusive. */
function seenAt({ window }: Evaluation, finding: Finding): Instant {
  return Math.min(finding.lastAt, window.to - 1)
}

/** Returns the last instant that the finding covers. A count covers its whole window. */
function occurredAt(evaluation: Evaluation, finding: Finding): Instant {
  return issueKindOf(evaluation.alert.alertType).messages.countsFirings
    ? evaluation.window.to - 1
    : seenAt(evaluation, finding)
}

function open(evaluation: Evaluation, finding: Finding): Change[] {
  const { alert, now, windowStartAt } = evaluation
  const id = evaluation.newId()
  return [
    {
      kind: 'open',
      issue: {
        id,
        orgId: alert.orgId,
        alertId: alert.id,
        alertName: alert.name,
        alertType: alert.alertType,
        channels: channelsOf(evaluation),
        domainId: finding.domainId,
        subject: finding.subject,
        status: 'open',
        severity: alert.severity,
        title: issueTitle(alert, finding),
        impactValue: alert.impactValue,
        firstSeenAt: finding.firstAt,
        lastSeenAt: seenAt(evaluation, finding),
        statusAt: now,
        statusBy: null,
        resolutionToldAt: null,
        clearWindows: 0,
        firing: true,
        firedWindowAt: windowStartAt,
        hosts: finding.hosts.slice(0, MAX_HOSTS),
        evidence: finding,
      },
    },
    tally(evaluation, id, finding),
    entry(id, now, 'opened', detailsOf(finding), { transition: 'opened', finding, delayMs: 0 }),
  ]
}

/**
 * Reopens an issue because of a firing: a resolved issue, an acknowledged issue that had been clear, or a muted issue
 * that fires on another host.
 */
function reopen(evaluation: Evaluation, issue: IssueRecord, finding: Finding): Change[] {
  const { alert, now, windowStartAt } = evaluation
  return [
    ...count(evaluation, issue, finding, {
      status: 'open',
      statusAt: now,
      statusBy: null,
      resolutionToldAt: null,
      title: issueTitle(alert, finding),
      // Occurrences before the resolution are not reported again.
      evidence: finding,
      firing: true,
      clearWindows: 0,
      firedWindowAt: windowStartAt,
    }),
    ...(issue.status === 'resolved' ? [{ kind: 'withdraw', issueId: issue.id } as const] : []),
    entry(
      issue.id,
      now,
      'reopened',
      { from: issue.status, ...detailsOf(finding) },
      { transition: 'reopened', finding, delayMs: 0 },
    ),
  ]
}

function resolve({ alert, timezone, now }: Evaluation, issue: IssueRecord, window: Window): Change[] {
  const { clearsAtOnce, messages } = issueKindOf(alert.alertType)
  const { countsFirings, unit } = messages
  const reason = clearsAtOnce
    ? `not found in the latest ${unit.one}`
    : countsFirings
      ? `${CLEAR_WINDOWS} windows without a violation`
      : `no violation since ${momentText(issue.lastSeenAt, timezone)}`
  return [
    {
      kind: 'update',
      issueId: issue.id,
      values: {
        status: 'resolved',
        statusAt: now,
        statusBy: null,
        resolutionToldAt: now,
        firing: false,
        clearWindows: CLEAR_WINDOWS,
      },
    },
    entry(
      issue.id,
      now,
      'resolved',
      { reason, through: window.to },
      { transition: 'resolved', finding: issue.evidence, delayMs: 0 },
    ),
  ]
}

/**
 * Adds a window that fired to the history, once. An open issue also causes a notification. More violations may follow
 * until the window ends.
 */
function report(evaluation: Evaluation, issue: IssueRecord, finding: Finding | null): Change[] {
  const { alert, now, window, windowStartAt } = evaluation
  const { messages, renotifyAfterMs } = issueKindOf(alert.alertType)
  const { countsFirings } = messages
  const isEarly = !window.complete && !countsFirings
  const sinceMs = windowStartAt - issue.firedWindowAt
  if (isEarly || sinceMs <= 0 || sinceMs < renotifyAfterMs) return []
  const notice: Notice | null = issue.status === 'open' ? { transition: 'repeated', finding, delayMs: 0 } : null
  return [
    { kind: 'update', issueId: issue.id, values: { firedWindowAt: windowStartAt } },
    entry(issue.id, now, 'fired', finding && detailsOf(finding), notice),
  ]
}

/**
 * Adds a finding to an issue, and updates the fields copied from its alert. `values`: additional fields to set. A
 * window of counts is one occurrence, regardless of how many of its parts fire.
 */
function count(
  evaluation: Evaluation,
  issue: IssueRecord,
  finding: Finding,
  values: Extract<Change, { kind: 'update' }>['values'] = {},
): Change[] {
  const { alert, windowStartAt } = evaluation
  const isCounted = issueKindOf(alert.alertType).messages.countsFirings && issue.lastSeenAt >= windowStartAt
  return [
    {
      kind: 'update',
      issueId: issue.id,
      values: {
        alertName: alert.name,
        channels: channelsOf(evaluation),
        severity: alert.severity,
        impactValue: alert.impactValue,
        lastSeenAt: Math.max(issue.lastSeenAt, seenAt(evaluation, finding)),
        hosts: hostsOf(issue, finding),
        evidence: windowSoFar(evaluation, issue, finding),
        ...(issueKindOf(alert.alertType).updatesTitle ? { title: issueTitle(alert, finding) } : {}),
        ...values,
      },
    },
    ...(isCounted ? [] : [tally(evaluation, issue.id, finding)]),
  ]
}

/** Merges two sorted lists of hosts. The list with more occurrences comes first. */
function hostsOf(issue: IssueRecord, finding: Finding): string[] {
  const before = issue.hosts ?? []
  const [lead, rest] = finding.occurrences >= issue.occurrences ? [finding.hosts, before] : [before, finding.hosts]
  return [...new Set([...lead, ...rest])].slice(0, MAX_HOSTS)
}

function tally(evaluation: Evaluation, issueId: string, finding: Finding): Change {
  const day = new Date(seenAt(evaluation, finding)).toISOString().slice(0, 10)
  // Counts of sampled traffic are weighted and may be fractional.
  return { kind: 'count', issueId, day, count: Math.max(1, Math.round(finding.occurrences)) }
}

function entry(
  issueId: string,
  at: Instant,
  kind: HistoryKind,
  payload: Record<string, unknown> | null,
  notice: Notice | null,
): Change {
  return { kind: 'history', issueId, entry: kind, payload, at, notice }
}

function detailsOf({ summary, occurrences, observed, expected }: Finding) {
  return { summary, occurrences, observed, expected }
}
