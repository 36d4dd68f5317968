import type { Finding } from '../alerts/finding.ts'
import { type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Change, HistoryKind, IssueRecord, IssueStatus, Notice } from './issue.ts'

/** How long the notice of a resolution by hand is delayed, so that it can be withdrawn. */
export const RESOLUTION_DELAY_MS = 10 * SECOND_MS

/** A user's id, or the name of the integration through which a user acted. */
export type Actor = string

/** The transitions allowed by hand, with their kind of history entry. All others are refused. */
const BY_HAND: Record<IssueStatus, Partial<Record<IssueStatus, HistoryKind>>> = {
  open: { acknowledged: 'acknowledged', resolved: 'resolved', muted: 'muted' },
  acknowledged: { open: 'reopened', resolved: 'resolved', muted: 'muted' },
  resolved: { open: 'reopened', muted: 'muted' },
  muted: { open: 'unmuted', resolved: 'resolved' },
}

/**
 * Changes the status by hand. Returns no change when the issue has that status already; fails with `conflict` when its
 * present one does not allow it. The store checks whether another issue has replaced a resolved one.
 */
export function transition(issue: IssueRecord, to: IssueStatus, by: Actor, now: Instant): Change[] {
  if (issue.status === to) return []
  const entry = BY_HAND[issue.status][to]
  if (!entry) throw new AppError('conflict', `status: a ${issue.status} issue cannot become ${to}; open it first`)
  // A pending notice is withdrawn when the issue leaves `resolved`, so it was never sent.
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
        resolutionToldAt:
          to === 'open' ? null : to === 'resolved' ? (notifiedAt ?? now + RESOLUTION_DELAY_MS) : notifiedAt,
        ...(reviving ? { clearWindows: 0 } : {}),
      },
    },
    ...(issue.status === 'resolved' ? [{ kind: 'withdraw', issueId: issue.id } as const] : []),
    {
      kind: 'history',
      issueId: issue.id,
      entry,
      payload: { by, from: issue.status },
      at: now,
      notice: noticeOf(to, notifiedAt, issue.evidence),
    },
  ]
}

/** Returns a notice when recipients have to learn of the change; muting notifies nobody. */
function noticeOf(to: IssueStatus, notifiedAt: Instant | null, finding: Finding | null): Notice | null {
  if (to === 'resolved' && notifiedAt === null) return { transition: 'resolved', finding, delayMs: RESOLUTION_DELAY_MS }
  if (to === 'open' && notifiedAt !== null) return { transition: 'reopened', finding, delayMs: 0 }
  return null
}

/** Replaces the notes of an issue; empty text removes them. Returns no change when they are the same. */
export function rewriteNotes(issue: IssueRecord, text: string, by: Actor, now: Instant): Change[] {
  const notes = text === '' ? null : text
  if (notes === issue.notes) return []
  return [
    { kind: 'update', issueId: issue.id, values: { notes } },
    { kind: 'history', issueId: issue.id, entry: 'note', payload: { by, text }, at: now, notice: null },
  ]
}
