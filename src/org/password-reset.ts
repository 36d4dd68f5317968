import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newSecret } from '../core/id.ts'
import { secretHash } from '../core/secret-box.ts'
import type { Origin } from '../http/origin.ts'
import { type Db, tx } from '../store/database.ts'
import { endEarlierAccess, openSession, type SignedInAnew, signedIn } from './session.ts'
import { auditEverywhere, type SignInParts } from './sign-in.ts'
import { hashPassword } from './user.ts'

/** How long a link works. */
const RESET_MS = HOUR_MS
/** Maximum number of links sent to a user while the first of them is valid, so that a stranger can't fill a mailbox. */
const MAX_LINKS = 3

export interface ResetParts extends SignInParts {
  /** Public URL of the server, without a slash at its end. */
  publicUrl: string
  /** Sends a mail in the background, and handles its failures; null when no mail server is configured. */
  mail: ((to: string, subject: string, text: string) => void) | null
}

/**
 * Mails a link with which the user of this address sets a new password; earlier links stay valid. Without a mail server,
 * for addresses of nobody who signs in with a password, and after three links within an hour nothing happens: the caller
 * sees no difference, and waits no longer. Fails with `rateLimited` after too many tries, whether the address is known or not.
 */
export function forgotPassword(parts: ResetParts, email: string, origin: Origin): void {
  parts.limits.byAddress(origin)
  parts.limits.byAccount(email, origin)
  // After the response: what follows takes time for known users only.
  setTimeout(() => mailLink(parts, email.trim(), origin), 0)
}

function mailLink(parts: ResetParts, email: string, { address, userAgent }: Origin): void {
  const { db, clock, publicUrl, mail } = parts
  try {
    const user = mail && findByEmail(db, email)
    if (!user) return
    const token = tx(db, () => {
      if (linksOf(db, clock, user.id) >= MAX_LINKS) return null
      const entry = { act: 'forgotPassword', userId: null, address, target: user.id, note: { userAgent } }
      auditEverywhere(parts, user.id, entry)
      return newResetToken(db, clock, user.id)
    })
    if (token !== null) mail(user.email, 'Tagwarden: a new password', letter(`${publicUrl}/reset#reset=${token}`))
  } catch (error) {
    parts.report(error, 'forgotten password')
  }
}

const letter = (link: string) =>
  [
    'Somebody, probably you, wants a new password for this address in Tagwarden.',
    'To set it, open this link within an hour:',
    link,
    'If it was not you, ignore this: your password stays as it is.',
    '',
  ].join('\n\n')

/**
 * Returns the user of an address who may set a password: a member of an organization who has one, or who has no other way
 * in. Whom the company signs in gets no second way past it.
 */
function findByEmail(db: Db, email: string): { id: string; email: string } | null {
  const find = db.prepare<[string], { id: string; email: string }>(
    `SELECT id, email FROM user WHERE email = ?
       AND EXISTS (SELECT 1 FROM member WHERE userId = user.id AND inviteHash IS NULL)
       AND (passwordHash IS NOT NULL OR NOT EXISTS (SELECT 1 FROM identity WHERE userId = user.id))`,
  )
  return find.get(email) ?? null
}

/** Returns how many links of a user have not expired, used ones included. */
function linksOf(db: Db, clock: Clock, userId: string): number {
  const now = clock.now()
  // A link that ends later than any can was made before the clock was set back.
  db.prepare('DELETE FROM passwordReset WHERE expiresAt <= ? OR expiresAt > ?').run(now, now + RESET_MS)
  return db.prepare<[string], number>('SELECT count(*) FROM passwordReset WHERE userId = ?').pluck().get(userId) ?? 0
}

/** Makes the token of a link, of which only the hash is stored. Earlier links stay valid. */
export function newResetToken(db: Db, clock: Clock, userId: string): string {
  const token = newSecret('rs')
  db.prepare('INSERT INTO passwordReset (tokenHash, userId, expiresAt) VALUES (?, ?, ?)').run(
    ...([secretHash(token), userId, clock.now() + RESET_MS] as const),
  )
  return token
}

/** Returns whose password the link sets; null when it is unknown, was used, or has expired. */
function userOf(db: Db, token: string, now: Instant): string | null {
  // A link that ends later than any can was made before the clock was set back.
  const find = db.prepare<[Buffer, Instant, Instant], { userId: string }>(
    'SELECT userId FROM passwordReset WHERE tokenHash = ? AND expiresAt > ? AND expiresAt <= ?',
  )
  return find.get(secretHash(token), now, now + RESET_MS)?.userId ?? null
}

/** Ends the links of a user. They still count as sent. */
export function endReset(db: Db, userId: string): void {
  db.prepare('UPDATE passwordReset SET tokenHash = randomblob(32) WHERE userId = ?').run(userId)
}

const notInForce = () => new AppError('unauthorized', 'token: the link is unknown, used or expired; ask for a new one')

/**
 * Sets the password with the token of a link, which works once, ends all sessions of the user, revokes all API keys
 * of the user, and opens a new session. Fails
 * with `unauthorized` when the token is not in force, `forbidden` when the user belongs to no organization any more,
 * `rateLimited` after too many tries, `invalid` when the password does not fit.
 */
export async function resetPassword(
  parts: SignInParts,
  { token, password }: { token: string; password: string },
  origin: Origin,
): Promise<SignedInAnew> {
  const { db, clock, limits } = parts
  limits.byAddress(origin)
  if (userOf(db, token, clock.now()) === null) throw notInForce()
  const passwordHash = await hashPassword(password)
  return tx(db, () => {
    // Another call may have used the link meanwhile.
    const userId = userOf(db, token, clock.now())
    if (userId === null) throw notInForce()
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(passwordHash, userId)
    endReset(db, userId)
    const ended = endEarlierAccess(db, clock, userId)
    const answer = signedIn(db, openSession(db, clock, userId, 'password'), userId)
    if (answer.orgs.length === 0) throw new AppError('forbidden', 'the user is not a member of any organization')
    const { address, userAgent } = origin
    auditEverywhere(parts, userId, { act: 'resetPassword', userId, address, note: { userAgent, ...ended } })
    return { ...answer, ...ended }
  })
}
