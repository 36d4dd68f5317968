import type { Alert, AlertChannel } from '../../alerts/alert.ts'
import { findAlert } from '../../alerts/alert-store.ts'
import { isInRunWindow } from '../../alerts/allowed-run-hours.ts'
import type { Finding } from '../../alerts/finding.ts'
import type { Clock, Instant } from '../../core/clock.ts'
import { orNull } from '../../core/error.ts'
import { startEscalation } from '../../issues/escalation-store.ts'
import type { Enqueue, NotificationRequest } from '../../issues/issue.ts'
import { ruleOf } from '../../issues/ownership-store.ts'
import { type IssueFacts, issueFacts, lastOpening } from '../../issues/store.ts'
import { currencyOf, timezoneOf } from '../../org/store.ts'
import { type Db, prepared } from '../../store/database.ts'
import { buildMessage, type MessageChange, type MessageFacts, memberMessage } from '../message/message.ts'
import type { Throttle } from './delivery.ts'
import { enqueueMemberMail, isNotifiedByMail } from './member-mail.ts'
import { enqueue, escalationInstance, withdrawResolutions } from './outbox.ts'

export interface NotifierDeps {
  db: Db
  clock: Clock
  publicUrl: string
  /** True if e-mails can be sent to members. Default: false. */
  mailConfigured?: boolean
  /** Returns changes that may have caused the issue, newest first. Absent: none. */
  changesOf?(issue: IssueFacts['issue']): MessageChange[]
}

/**
 * Returns the `enqueue` function used by the issues module. It builds the message from current facts and adds it to the
 * outbox, inside the transaction that changes the issue.
 */
export function notifier(deps: NotifierDeps): Enqueue {
  const { db } = deps
  return (order) => {
    if (order.kind === 'withdraw') {
      withdrawResolutions(db, order.issueId)
      return
    }
    const facts = issueFacts(db, order.issueId)
    if (!facts) return
    if (order.kind === 'notify') notify(deps, order, facts)
    else if (deps.mailConfigured) mailMember(deps, order, facts)
  }
}

/**
 * Sends the notification of an issue's last opening after a throttle or a maintenance window held it back. Does nothing
 * if the alert is disabled or outside its run windows. Returns false in the latter case, so that it can be tried again.
 */
export function notifyHeldOpening(deps: NotifierDeps, issueId: string): boolean {
  const { db, clock } = deps
  const facts = issueFacts(db, issueId)
  const opening = lastOpening(db, issueId)
  if (!facts || !opening) return true
  const alert = alertOf(db, facts.issue)
  const now = clock.now()
  if (alert && !alert.enabled) return true
  if (alert && !isInRunWindow(alert.runWindows, alert.timezone, now)) return false
  const { seq: historySeq, kind: transition } = opening
  const finding = facts.issue.evidence
  notify(deps, { kind: 'notify', issueId, transition, finding, historySeq, at: now, delayMs: 0 }, facts)
  return true
}

function notify(
  deps: NotifierDeps,
  { transition, finding, historySeq, at, delayMs, escalation }: Extract<NotificationRequest, { kind: 'notify' }>,
  facts: IssueFacts,
): void {
  const { db, clock } = deps
  const { issue } = facts
  const { channels, throttle } = escalation ? { ...escalation, throttle: null } : recipientsOf(db, issue, finding)
  const message = buildMessage({
    ...messageFacts(deps, { transition, finding, at }, facts),
    ...(escalation && { escalation }),
  })
  const { orgId, id: issueId, alertId } = issue
  const now = clock.now()
  const { deliveryIds } = enqueue(db, {
    orgId,
    issueId,
    alertId,
    transition,
    instance: escalation ? escalationInstance(escalation) : historySeq,
    message,
    channels,
    throttle,
    delayMs,
    now,
    ...(escalation && { escalationStep: escalation.step }),
  })
  const isOpening = transition === 'opened' || transition === 'reopened'
  if (isOpening && deliveryIds.length > 0) startEscalation(db, issue, historySeq, now)
}

/**
 * Sends an e-mail to a member. An assignment by a rule is not sent if the member receives the notification of the
 * opening by e-mail anyway.
 */
function mailMember(
  deps: NotifierDeps,
  { userId, by, comment, historySeq, at }: Extract<NotificationRequest, { kind: 'mail' }>,
  facts: IssueFacts,
): void {
  const { db, clock } = deps
  const { id: issueId, orgId, alertId, evidence: finding } = facts.issue
  if (by === null && isNotifiedByMail(db, { orgId, issueId, userId, at })) return
  const message = memberMessage(messageFacts(deps, { transition: 'repeated', finding, at }, facts), {
    by: actorName(db, by),
    comment,
  })
  enqueueMemberMail(db, { orgId, issueId, alertId, userId, instance: historySeq, message, now: clock.now() })
}

function messageFacts(
  { db, publicUrl, changesOf }: NotifierDeps,
  { transition, finding, at }: Pick<MessageFacts, 'transition' | 'at'> & { finding: Finding | null },
  { issue, domain, openNow }: IssueFacts,
): MessageFacts {
  return {
    transition,
    at,
    publicUrl,
    issue: {
      ...issue,
      assignee: assigneeOf(db, issue.assigneeId),
      resolvedBy: transition === 'resolved' ? actorName(db, issue.statusBy) : null,
    },
    alert: { id: issue.alertId, name: issue.alertName },
    domain: issue.domainId !== null && domain !== null ? { id: issue.domainId, name: domain } : null,
    finding,
    changes: changesOf?.(issue) ?? [],
    firstBadAt: transition === 'reopened' ? (finding?.firstAt ?? at) : firstBadOf(db, issue),
    currency: currencyOf(db, issue.orgId),
    timezone: timezoneOf(db, issue.orgId),
    openNow,
  }
}

/**
 * Time of the first occurrence since the issue last opened, taken from the notice of its last reopening, or otherwise
 * from the issue.
 */
function firstBadOf(db: Db, issue: IssueFacts['issue']): Instant {
  const reopening = prepared<[string], { at: Instant | null }>(
    db,
    `SELECT json_extract(message, '$.firstBadAt') AS at FROM delivery
     WHERE issueId = ? AND transition = 'reopened' ORDER BY seq DESC LIMIT 1`,
  ).get(issue.id)
  return reopening?.at ?? issue.firstSeenAt
}

/** Display name of an actor, which is a user or an integration. Null if there is no actor. */
export function actorName(db: Db, actor: string | null): string | null {
  if (actor === null) return null
  const user = db.prepare<[string], { name: string | null }>('SELECT name FROM user WHERE id = ?').get(actor)
  return user ? user.name || 'a member' : actor
}

/** The member to whom an issue is assigned, for messages. */
export function assigneeOf(db: Db, assigneeId: string | null): { id: string; name: string } | null {
  const name = actorName(db, assigneeId)
  return assigneeId === null || name === null ? null : { id: assigneeId, name }
}

/**
 * Channels of the alert, or of the issue if it has no alert, and of the ownership rule that the issue matches. A
 * deleted alert notifies no new channels, but its resolutions still reach the channels that were notified.
 */
function recipientsOf(
  db: Db,
  issue: IssueFacts['issue'],
  finding: Finding | null,
): { channels: AlertChannel[]; throttle: Throttle | null } {
  const alert = alertOf(db, issue)
  const channels = alert?.channels ?? issue.channels
  if (!channels) return { channels: [], throttle: null }
  const owned = ruleOf(db, issue, finding)?.channels ?? []
  return { channels: [...channels, ...owned], throttle: alert?.throttle ?? null }
}

/** The issue's alert. Null if it was deleted. */
const alertOf = (db: Db, { orgId, alertId }: IssueFacts['issue']): Alert | null =>
  orNull(() => findAlert(db, { orgId, id: alertId }))
