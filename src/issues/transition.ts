import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Change, HistoryKind, HistoryPayload, IssueRecord, IssueStatus, Notice } from './issue.ts'

/** How long the notice of a resolution by hand is delayed, so that it can be withdrawn. */
export const RESOLUTION_DELAY_MS = 10 * SECOND_MS

/** An issue can be muted for so long ahead; for longer only until somebody unmutes it. */
const MAX_MUTED_MS = 366 * DAY_MS

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
 * present one does not allow it. `mutedUntil`: when a muted one opens again, null: when somebody unmutes it; left out: as a
 * muted one stands, else null. Fails with `invalid` for a time that is past or more than 366 days ahead. The store checks
 * whether another issue has replaced a resolved one.
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

/** Opens an issue that was muted until now. */
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
