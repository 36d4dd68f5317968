import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { normalizeHostname } from '../domains/domain.ts'
import {
  type Change,
  type HistoryKind,
  type HistoryPayload,
  type IssuePatch,
  type IssueRecord,
  type IssueStatus,
  type Mute,
  NO_MUTE,
  type Notice,
} from './issue.ts'

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
 * current status does not allow the change. `mute` applies to `muted`; if absent, a muted issue keeps its own, and other
 * issues are muted on all hosts until a user unmutes them. Leaving `muted` ends the mute; an issue that is muted on some
 * hosts and has another status keeps it. Fails with `invalid` for a time in the past or more than 366 days in the
 * future. The store checks whether another issue has replaced a resolved one.
 */
export function transition(
  issue: IssueRecord,
  to: IssueStatus,
  by: Actor,
  now: Instant,
  mute: Mute = issue.status === 'muted' ? muteOf(issue) : NO_MUTE,
): Change[] {
  const next = to === 'muted' ? mute : issue.status === 'muted' ? NO_MUTE : muteOf(issue)
  if (issue.status === to && isSameMute(issue, next)) return []
  if (to === 'muted' && next.mutedUntil !== null) checkMutedUntil(next.mutedUntil, now)
  const entry = issue.status === to ? 'muted' : BY_HAND[issue.status][to]
  if (!entry) throw new AppError('conflict', `status: a ${issue.status} issue cannot become ${to}; open it first`)
  const payload = { by, from: issue.status, ...(to === 'muted' && payloadOf(next)) }
  return changed(issue, { to, entry, payload, by, mute: next, now })
}

const muteOf = ({ mutedUntil, muteReason, mutedHosts }: Mute): Mute => ({ mutedUntil, muteReason, mutedHosts })

const isSameMute = (a: Mute, b: Mute): boolean => JSON.stringify(muteOf(a)) === JSON.stringify(muteOf(b))

const payloadOf = ({ mutedUntil, muteReason, mutedHosts }: Mute): HistoryPayload => ({
  ...(mutedUntil !== null && { until: mutedUntil }),
  ...(muteReason !== null && { reason: muteReason }),
  ...(mutedHosts !== null && { hosts: mutedHosts }),
})

/**
 * Returns the mute of a request for status `muted`. Fails with `invalid` for a host that is not a hostname, and for
 * hosts of an issue without hosts, on which they would have no effect.
 */
export function muteFrom(
  issue: IssueRecord,
  { mutedUntil = null, muteReason, mutedHosts }: Pick<IssuePatch, keyof Mute>,
): Mute {
  const hosts = (mutedHosts ?? []).map((given, index) => {
    const host = normalizeHostname(given)
    if (host === null) throw new AppError('invalid', `mutedHosts[${index}]: is not a hostname`)
    return host
  })
  if (hosts.length > 0 && !issue.hosts?.length) {
    throw new AppError('invalid', 'mutedHosts: the issue has no hosts; omit this field to mute the whole issue')
  }
  return {
    mutedUntil,
    muteReason: muteReason?.trim() || null,
    mutedHosts: hosts.length === 0 ? null : [...new Set(hosts)].sort(),
  }
}

/** Ends the muting of hosts. Returns no change if no hosts of the issue are muted, or if its status is `muted`. */
export function unmuteHosts(issue: IssueRecord, by: Actor, now: Instant): Change[] {
  const { id: issueId, status, mutedHosts: hosts } = issue
  if (hosts === null || status === 'muted') return []
  return [
    { kind: 'update', issueId, values: NO_MUTE },
    { kind: 'history', issueId, entry: 'unmuted', payload: { by, hosts }, at: now, notice: null },
  ]
}

/** Ends a mute at its time. A muted issue reopens; an issue of which only hosts are still muted keeps its status. */
export function unmute(issue: IssueRecord, now: Instant): Change[] {
  if (issue.status !== 'muted') return unmuteHosts(issue, 'time', now)
  return changed(issue, { to: 'open', entry: 'unmuted', payload: { by: 'time' }, by: null, mute: NO_MUTE, now })
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
  mute: Mute
  now: Instant
}

function changed(issue: IssueRecord, { to, entry, payload, by, mute, now }: Move): Change[] {
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
        ...(isSameMute(issue, mute) ? {} : muteOf(mute)),
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
