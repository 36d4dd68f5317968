import type { Instant } from '../../core/clock.ts'
import { newId } from '../../core/id.ts'
import { type Db, prepared } from '../../store/database.ts'
import type { Message } from '../message/message.ts'
import { OWNERS_TARGET } from '../providers/email/email.ts'

interface MemberNotice {
  orgId: string
  issueId: string
  alertId: string
  /** The recipient. Their e-mail address is looked up when the e-mail is sent. */
  userId: string
  /** Sequence number of the history entry that caused the e-mail. */
  instance: number
  /** Message of the kind `assigned` or `mentioned`. */
  message: Message
  now: Instant
}

/**
 * Adds an e-mail to a member to the outbox, inside the caller's transaction. Idempotent for the same history entry. It
 * does not count towards the alert's throttle or the issue's notifications.
 */
export function enqueueMemberMail(db: Db, notice: MemberNotice): void {
  const { orgId, issueId, alertId, userId, instance, message, now } = notice
  const noticeKey = `${issueId}:${message.kind}:${instance}`
  prepared(
    db,
    `INSERT INTO delivery (id, orgId, issueId, alertId, transition, noticeKey, transitionKey, channelType,
       channelTarget, message, status, attempts, dueAt, createdAt)
     VALUES (@id, @orgId, @issueId, @alertId, @kind, @noticeKey, @transitionKey, 'email', @userId, @message, 'pending',
       0, @now, @now)
     ON CONFLICT (transitionKey) DO NOTHING`,
  ).run({
    id: newId('dlv', now),
    orgId,
    issueId,
    alertId,
    kind: message.kind,
    noticeKey,
    transitionKey: `${noticeKey}:email:${userId}`,
    userId,
    message: JSON.stringify(message),
    now,
  })
}

/** True if a notification of the issue's state since `at` is addressed to the member's e-mail address. */
export function isNotifiedByMail(
  db: Db,
  { orgId, issueId, userId, at }: { orgId: string; issueId: string; userId: string; at: Instant },
): boolean {
  const member = prepared<[string, string], { email: string; role: string }>(
    db,
    'SELECT email, role FROM member JOIN user ON user.id = userId WHERE orgId = ? AND userId = ?',
  ).get(orgId, userId)
  if (!member) return false
  const targets = prepared<[string, Instant], { target: string }>(
    db,
    `SELECT channelTarget AS target FROM delivery
     WHERE issueId = ? AND createdAt >= ? AND channelType = 'email' AND transition IN ('opened', 'reopened')`,
  ).all(issueId, at)
  const address = member.email.toLowerCase()
  return targets.some(({ target }) =>
    target === OWNERS_TARGET
      ? member.role === 'owner'
      : target.split(',').some((part) => part.trim().toLowerCase() === address),
  )
}
