import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Change, HistoryKind, HistoryPayload, IssueRecord, IssueStatus, Notice } from './issue.ts'

/** Delay of the notification of a manual resolution, in which it can be withdrawn. */
export const RESOLUTION_DELAY_MS = 10 * SECOND_MS

/** Maximum time an issue can be muted for; beyond that only until a user unmutes it. */
const MAX_MUTED_MS = 366 * DAY_MS

/** A user's id, or the name of the integration through which a user acted. */
export type Actor = string

/** Allowed manual transitions, with their kind of history entry. All others are rejected. */
const BY_HAND: Record<IssueStatus, Partial<Record<IssueStatus, HistoryKind>>> = {
  open: { acknowledged: 'acknowledged', resolved: 'resolved', muted: 'muted' },
  acknowledged: { open: 'reopened', resolved: 'resolved', muted: 'muted' },
  resolved: { open: 'reopened', muted: 'muted' },
  muted: { open: 'unmuted', resolved: 'resolved' },
}

/**
 * Changes the status manually. Returns no change if the issue already has that status; fails with `conflict` if its
 * current one does not allow it. `mutedUntil`: when a muted issue reopens; null: when a user unmutes it; absent:
 * unchanged for a muted issue, else null. Fails with `invalid` for a time in the past or more than 366 days ahead. The
 * store checks whether another issue has replaced a resolved one.
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

/** Reopens an issue that was muted until now. */
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
  // A pending notification is withdrawn when the issue leaves `resolved`, so it was never sent.
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

/** Returns a notice if recipients must be notified of the change; muting notifies nobody. */
function noticeOf(to: IssueStatus, notifiedAt: Instant | null, finding: Finding | null): Notice | null {
  if (to === 'resolved' && notifiedAt === null) return { transition: 'resolved', finding, delayMs: RESOLUTION_DELAY_MS }
  if (to === 'open' && notifiedAt !== null) return { transition: 'reopened', finding, delayMs: 0 }
  return null
}

/** Replaces the notes of an issue; empty text removes them. Returns no change if they are equal. */
export function rewriteNotes(issue: IssueRecord, text: string, by: Actor, now: Instant): Change[] {
  const notes = text === '' ? null : text
  if (notes === issue.notes) return []
  return [
    { kind: 'update', issueId: issue.id, values: { notes } },
    { kind: 'history', issueId: issue.id, entry: 'note', payload: { by, text }, at: now, notice: null },
  ]
}
