import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Change, HistoryKind, HistoryPayload, IssueRecord, IssueStatus, Notice } from './issue.ts'

/** Delay of the notification about a manual resolution, during which it can be withdrawn. */
export const RESOLUTION_DELAY_MS = 10 * SECOND_MS

/** Maximum time for which an issue can be muted. Longer muting is possible only until a user unmutes the issue. */
const MAX_MUTED_MS = 366 * DAY_MS

/** A user's id, or the name of the integration through which a user acted. */
export type Actor = string

/** Allowed manual transitions, with the kind of history entry for each. All other transitions are rejected. */
const BY_HAND: Record<IssueStatus, Partial<Record<IssueStatus, HistoryKind>>> = {
  open: { acknowledged: 'acknowledged', resolved: 'resolved', muted: 'muted' },
  acknowledged: { open: 'reopened', resolved: 'resolved', muted: 'muted' },
  resolved: { open: 'reopened', muted: 'muted' },
  muted: { open: 'unmuted', resolved: 'resolved' },
}

/**
 * Changes the status manually. Returns no change if the issue already has the status. Fails with `conflict` if the
 * current status does not allow the change. `mutedUntil`: time at which a muted issue reopens; null for muting until a
 * user unmutes it; if absent, unchanged for a muted issue and otherwise null. Fails with `invalid` for a time in the
 * past or more than 366 days in the future. The store checks whether another issue has replaced a resolved one.
 */
export function transition(
  issue: IssueRecord,
  to: IssueStatus,
  by: Actor,
  now: Instant,
  mutedUntil: Instant | null = issue.mutedUntil,
): Change[] {
  const until = to === 'muted' ? mutedUntil : null
  if (issue.status === to && issue.mutedUntil === until) return []
  if (until !== null) checkMutedUntil(until, now)
  const entry = issue.status === to ? 'muted' : BY_HAND[issue.status][to]
  if (!entry) throw new AppError('conflict', `status: a ${issue.status} issue cannot become ${to}; open it first`)
  const payload = { by, from: issue.status, ...(until === null ? {} : { until }) }
  return changed(issue, { to, entry, payload, by, mutedUntil: until, now })
}

/** Reopens an issue whose muting has ended. */
export function unmute(issue: IssueRecord, now: Instant): Change[] {
  return changed(issue, { to: 'open', entry: 'unmuted', payload: { by: 'time' }, by: null, mutedUntil: null, now })
}

function checkMutedUntil(mutedUntil: Instant, now: Instant): void {
  if (mutedUntil <= now) throw new AppError('invalid', 'mutedUntil: must be in the future')
  if (mutedUntil > now + MAX_MUTED_MS) throw new AppError('invalid', 'mutedUntil: must be at most 366 days ahead')
}

interface Move {
  to: IssueStatus
  entry: HistoryKind
  payload: HistoryPayload
  by: Actor | null
  mutedUntil: Instant | null
  now: Instant
}

function changed(issue: IssueRecord, { to, entry, payload, by, mutedUntil, now }: Move): Change[] {
  // A pending notification is withdrawn when the issue is no longer `resolved`, so it was never sent.
  const notifiedAt = issue.resolutionToldAt !== null && issue.resolutionToldAt <= now ? issue.resolutionToldAt : null
  const reviving = to === 'open' && issue.status !== 'acknowledged'
  return [
    {
      kind: 'update',
      issueId: issue.id,
      values: {
        status: to,
        statusAt: now,
        statusBy: by,
        ...(issue.mutedUntil === mutedUntil ? {} : { mutedUntil }),
        resolutionToldAt:
          to === 'open' ? null : to === 'resolved' ? (notifiedAt ?? now + RESOLUTION_DELAY_MS) : notifiedAt,
        ...(reviving ? { clearWindows: 0 } : {}),
      },
    },
    ...(issue.status === 'resolved' ? [{ kind: 'withdraw', issueId: issue.id } as const] : []),
    { kind: 'history', issueId: issue.id, entry, payload, at: now, notice: noticeOf(to, notifiedAt, issue.evidence) },
  ]
}

/** Returns a notice if recipients must be notified of the change. Muting causes no notification. */
function noticeOf(to: IssueStatus, notifiedAt: Instant | null, finding: Finding | null): Notice | null {
  if (to === 'resolved' && notifiedAt === null) return { transition: 'resolved', finding, delayMs: RESOLUTION_DELAY_MS }
  if (to === 'open' && notifiedAt !== null) return { transition: 'reopened', finding, delayMs: 0 }
  return null
}

/** Replaces the notes of an issue. An empty string deletes them. Returns no change if the notes are equal. */
export function rewriteNotes(issue: IssueRecord, text: string, by: Actor, now: Instant): Change[] {
  const notes = text === '' ? null : text
  if (notes === issue.notes) return []
  return [
    { kind: 'update', issueId: issue.id, values: { notes } },
    { kind: 'history', issueId: issue.id, entry: 'note', payload: { by, text }, at: now, notice: null },
  ]
}
