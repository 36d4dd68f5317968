import { createHash } from 'node:crypto'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'

/** Identifies a user in an organization. */
export interface MemberId {
  orgId: string
  userId: string
}

export interface Subscription {
  subscribed: boolean
  context: string
  hourUtc: number
}

/** Default for users without a stored subscription. */
const NO_SUBSCRIPTION: Subscription = { subscribed: false, context: '', hourUtc: 7 }

type SubscriptionRow = Omit<Subscription, 'subscribed'> & { subscribed: number }

export function subscriptionOf(db: Db, { orgId, userId }: MemberId): Subscription {
  const row = prepared<[string, string], SubscriptionRow>(
    db,
    'SELECT subscribed, context, hourUtc FROM digestSubscription WHERE orgId = ? AND userId = ?',
  ).get(orgId, userId)
  return row ? { ...row, subscribed: row.subscribed === 1 } : NO_SUBSCRIPTION
}

/**
 * Stores a subscription; omitted fields are unchanged. Returns false, and stores nothing, if the user is not a member.
 */
export function subscribe(
  db: Db,
  member: MemberId,
  wanted: Pick<Subscription, 'subscribed'> & Partial<Subscription>,
): boolean {
  return tx(db, () => {
    const { subscribed, context, hourUtc } = { ...subscriptionOf(db, member), ...wanted }
    const { changes } = prepared<[object]>(
      db,
      `INSERT INTO digestSubscription (orgId, userId, subscribed, context, hourUtc)
       SELECT orgId, userId, @subscribed, @context, @hourUtc FROM member WHERE orgId = @orgId AND userId = @userId
       ON CONFLICT (orgId, userId) DO UPDATE
       SET subscribed = excluded.subscribed, context = excluded.context, hourUtc = excluded.hourUtc`,
    ).run({ ...member, subscribed: Number(subscribed), context, hourUtc })
    return changes > 0
  })
}

/** An active subscription with the current e-mail address. */
interface Subscriber extends MemberId {
  context: string
  hourUtc: number
  email: string
}

const SUBSCRIBERS = `SELECT digestSubscription.orgId, digestSubscription.userId, context, hourUtc, email
  FROM digestSubscription JOIN member USING (orgId, userId) JOIN user ON user.id = digestSubscription.userId
  WHERE subscribed = 1 AND inviteHash IS NULL AND email <> ''`

/** Returns all subscribers in all organizations. */
export function subscribers(db: Db): Subscriber[] {
  return prepared<[], Subscriber>(db, `${SUBSCRIBERS} ORDER BY orgId, userId`).all()
}

/** A mail that has been started but not yet sent. */
export interface PendingMail {
  orgId: string
  reader: string
  day: number
  attempts: number
  dueAt: Instant
}

/** True if the digest for the day has been started, with any outcome. */
export function isStarted(db: Db, { orgId, reader, day }: Pick<PendingMail, 'orgId' | 'reader' | 'day'>): boolean {
  const sql = 'SELECT 1 FROM digestMail WHERE orgId = ? AND reader = ? AND day = ?'
  return prepared<[string, string, number]>(db, sql).get(orgId, reader, day) !== undefined
}

/** Returns the keys (`orgId day reader`) of digests started for this day or later. */
export function startedSince(db: Db, day: number): Set<string> {
  const sql = 'SELECT orgId, reader, day FROM digestMail WHERE day >= ?'
  const rows = prepared<[number], Pick<PendingMail, 'orgId' | 'reader' | 'day'>>(db, sql).all(day)
  return new Set(rows.map(keyOf))
}

/** Key of a recipient's digest for a day. */
export const keyOf = ({ orgId, reader, day }: Pick<PendingMail, 'orgId' | 'reader' | 'day'>): string =>
  `${orgId} ${day} ${reader}`

/** Starts a recipient's digest for a day, due immediately. Does nothing if it has already been started. */
export function startMail(
  db: Db,
  { orgId, reader, day }: Pick<PendingMail, 'orgId' | 'reader' | 'day'>,
  now: Instant,
): void {
  prepared<[object]>(
    db,
    `INSERT INTO digestMail (orgId, reader, day, status, attempts, dueAt)
     VALUES (@orgId, @reader, @day, 'pending', 0, @now) ON CONFLICT DO NOTHING`,
  ).run({ orgId, reader, day, now })
}

/**
 * Returns up to `limit` due mails. Organizations take turns; within an organization, the longest overdue comes first.
 * Mails that would wait longer than `longestMs` were scheduled before the clock was set back, and are treated as due.
 */
export function dueMails(db: Db, now: Instant, longestMs: number, limit: number): PendingMail[] {
  return prepared<[object], PendingMail>(
    db,
    `SELECT orgId, reader, day, attempts, dueAt FROM (
       SELECT *, row_number() OVER (PARTITION BY orgId ORDER BY dueAt, reader) AS turn FROM digestMail
       WHERE status = 'pending' AND (dueAt <= @now OR dueAt > @latest))
     ORDER BY turn, dueAt, orgId, reader LIMIT @limit`,
  ).all({ now, latest: now + longestMs, limit })
}

/** Records the outcome of an attempt. */
export function finishMail(
  db: Db,
  { orgId, reader, day }: PendingMail,
  ended: { status: 'pending' | 'sent' | 'failed'; attempts: number; dueAt: Instant; lastError: string | null },
): void {
  prepared<[object]>(
    db,
    `UPDATE digestMail SET status = @status, attempts = @attempts, dueAt = @dueAt, lastError = @lastError
     WHERE orgId = @orgId AND reader = @reader AND day = @day`,
  ).run({ orgId, reader, day, ...ended })
}

/** Deletes records past their retention. */
export function removeOldDigests(db: Db, now: Instant): void {
  db.prepare('DELETE FROM digestMail WHERE day < ?').run(Math.floor((now - RECORD_RETENTION_MS) / DAY_MS))
}

/** Local part of the Message-ID. It is unique per recipient and day, but reveals neither. */
export function messageIdOf({ orgId, reader, day }: Pick<PendingMail, 'orgId' | 'reader' | 'day'>): string {
  const hash = createHash('sha256').update(`digest\0${orgId}\0${reader}\0${day}`).digest('hex')
  return `digest-${hash.slice(0, 40)}`
}
