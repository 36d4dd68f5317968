import type { Finding } from '../alerts/finding.ts'
import { type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Change, HistoryKind, IssueRecord, IssueStatus, Notice } from './issue.ts'

/** How long the notice of a resolution by hand waits for a change of mind. */
export const RESOLUTION_DELAY_MS = 10 * SECOND_MS

/** Who acts: a user's id, or the name of the integration through which somebody acted. */
export type Actor = string

/** What may be done by hand, and how the history calls it. What is missing is refused. */
const BY_HAND: Record<IssueStatus, Partial<Record<IssueStatus, HistoryKind>>> = {
  open: { acknowledged: 'acknowledged', resolved: 'resolved', muted: 'muted' },
  acknowledged: { open: 'reopened', resolved: 'resolved', muted: 'muted' },
  resolved: { open: 'reopened', muted: 'muted' },
  muted: { open: 'unmuted', resolved: 'resolved' },
}

/**
 * A change of status by hand. Nothing changes when the issue has that status already; `conflict` when its present one
 * does not lead there. Whether another issue has taken over from a resolved one is the store's to check.
 */
export function transition(issue: IssueRecord, to: IssueStatus, by: Actor, now: Instant): Change[] {
  if (issue.status === to) return []
  const entry = BY_HAND[issue.status][to]
  if (!entry) throw new AppError('conflict', `status: a ${issue.status} issue cannot become ${to}; open it first`)
  // A notice that still waits is withdrawn when the issue leaves `resolved`, so nobody will have heard.
  const toldAt = issue.resolutionToldAt !== null && issue.resolutionToldAt <= now ? issue.resolutionToldAt : null
  const reviving = to === 'open' && issue.status !== 'acknowledged'
  return [
    {
      kind: 'update',
      issueId: issue.id,
      values: {
        status: to,
        statusAt: now,
        statusBy: by,
        resolutionToldAt: to === 'open' ? null : to === 'resolved' ? (toldAt ?? now + RESOLUTION_DELAY_MS) : toldAt,
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
      notice: noticeOf(to, toldAt, issue.evidence),
    },
  ]
}

/** People are told what they don't know yet; muting is nobody's business but the one's who mutes. */
function noticeOf(to: IssueStatus, toldAt: Instant | null, finding: Finding | null): Notice | null {
  if (to === 'resolved' && toldAt === null) return { transition: 'resolved', finding, delayMs: RESOLUTION_DELAY_MS }
  if (to === 'open' && toldAt !== null) return { transition: 'reopened', finding, delayMs: 0 }
  return null
}

/** Replaces the notes of an issue; empty text removes them. Nothing changes when they are the same. */
export function rewriteNotes(issue: IssueRecord, text: string, by: Actor, now: Instant): Change[] {
  const notes = text === '' ? null : text
  if (notes === issue.notes) return []
  return [
    { kind: 'update', issueId: issue.id, values: { notes } },
    { kind: 'history', issueId: issue.id, entry: 'note', payload: { by, text }, at: now, notice: null },
  ]
}
