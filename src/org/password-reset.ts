import { pagePath } from '../contract/page-paths.ts'
import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newSecret } from '../core/id.ts'
import { secretHash } from '../core/secret-box.ts'
import type { Origin } from '../http/client-info.ts'
import { type MailDocument, NO_EXTRAS } from '../mail/mail-document.ts'
import { type Db, tx } from '../store/database.ts'
import type { SendMail } from '../transport/send-mail-directly.ts'
import { hashPassword } from './password-hash.ts'
import { checkSecondFactor } from './second-factor.ts'
import { endEarlierAccess, openSession, type SignedInAnew, signedIn } from './session.ts'
import { auditEverywhere, type PasswordSignInDeps, withSecondFactor } from './sign-in.ts'
import { findUser } from './store.ts'

/** Validity period of a password reset link. */
const RESET_MS = HOUR_MS
/**
 * Maximum number of links sent to a user within the validity period of the first one, so that a stranger can't flood a
 * mailbox.
 */
const MAX_LINKS = 3

export interface ResetDeps extends PasswordSignInDeps {
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  /** Null when no mail server is configured. */
  mail: SendMail | null
}

/**
 * E-mails a password reset link to the user with this address. Earlier links stay valid. Does nothing without a mail
 * server, for addresses that don't belong to a user with password sign-in, and after three links within an hour. The
 * caller can't tell the difference from the response or its duration. Throws `rateLimited` after too many attempts,
 * regardless of whether the address is known.
 */
export function forgotPassword(parts: ResetDeps, email: string, origin: Origin): void {
  parts.limits.byAddress(origin)
  parts.limits.byAccount(email, origin)
  // Runs after the response, because the duration would reveal whether the user is known.
  setTimeout(() => mailLink(parts, email.trim(), origin), 0)
}

function mailLink(parts: ResetDeps, email: string, { address, userAgent }: Origin): void {
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
    if (token !== null) mail(user.email, resetMail(publicUrl + pagePath.reset(token)))
  } catch (error) {
    parts.report(error, 'forgotten password')
  }
}

const resetMail = (url: string): MailDocument => ({
  ...NO_EXTRAS,
  subject: 'Tagwarden: reset your password',
  headline: 'Someone, probably you, requested a new password for this e-mail address in Tagwarden.',
  sections: [{ title: '', blocks: [{ kind: 'text', text: 'To set a new password, open this link within an hour:' }] }],
  button: { text: 'Set a new password', url },
  notes: ['If you did not request this, ignore this e-mail. Your password remains unchanged.'],
})

/**
 * Returns the user with this e-mail address if the user may set a password: a member who has a password or can't sign
 * in any other way. Users of single sign-on can't bypass it with a password.
 */
function findByEmail(db: Db, email: string): { id: string; email: string } | null {
  const find = db.prepare<[string], { id: string; email: string }>(
    `SELECT id, email FROM user WHERE email = ?
       AND EXISTS (SELECT 1 FROM member WHERE userId = user.id AND inviteHash IS NULL)
       AND (passwordHash IS NOT NULL OR NOT EXISTS (SELECT 1 FROM identity WHERE userId = user.id))`,
  )
  return find.get(email) ?? null
}

/** Returns the number of a user's unexpired links, including used ones. */
function linksOf(db: Db, clock: Clock, userId: string): number {
  const now = clock.now()
  // Links that expire later than a new link would were created before the clock was set back.
  db.prepare('DELETE FROM passwordReset WHERE expiresAt <= ? OR expiresAt > ?').run(now, now + RESET_MS)
  return db.prepare<[string], number>('SELECT count(*) FROM passwordReset WHERE userId = ?').pluck().get(userId) ?? 0
}

/** Creates the token for a link. Only the hash of the token is stored. Earlier links stay valid. */
export function newResetToken(db: Db, clock: Clock, userId: string): string {
  const token = newSecret('rs')
  db.prepare('INSERT INTO passwordReset (tokenHash, userId, expiresAt) VALUES (?, ?, ?)').run(
    ...([secretHash(token), userId, clock.now() + RESET_MS] as const),
  )
  return token
}

/** Returns the user whose password the link can reset; null when the link is unknown, used or expired. */
function userOf(db: Db, token: string, now: Instant): string | null {
  // Links that expire later than a new link would were created before the clock was set back.
  const find = db.prepare<[Buffer, Instant, Instant], { userId: string }>(
    'SELECT userId FROM passwordReset WHERE tokenHash = ? AND expiresAt > ? AND expiresAt <= ?',
  )
  return find.get(secretHash(token), now, now + RESET_MS)?.userId ?? null
}

/** Invalidates the user's password reset links. The links still count towards the limit. */
export function endReset(db: Db, userId: string): void {
  db.prepare('UPDATE passwordReset SET tokenHash = randomblob(32) WHERE userId = ?').run(userId)
}

const notInForce = () => new AppError('unauthorized', 'token: the link is unknown, used or expired; request a new one')

/**
 * Sets the password with the single-use token from a link. Deletes all of the user's sessions, revokes all of the
 * user's API keys, and creates a new session. Throws `unauthorized` for an invalid token, and `forbidden` when the user
 * no longer belongs to an organization. Throws `SecondFactorError` when the user has a second factor and the code is
 * missing or wrong; the link then stays valid. Throws `rateLimited` after too many attempts, and `invalid` for an invalid
 * password.
 */
export async function resetPassword(
  parts: PasswordSignInDeps,
  { token, password, code }: { token: string; password: string; code?: string },
  origin: Origin,
): Promise<SignedInAnew> {
  const { db, clock, limits } = parts
  limits.byAddress(origin)
  const id = userOf(db, token, clock.now())
  const user = id === null ? null : findUser(db, id)
  if (!user) throw notInForce()
  const passwordHash = await hashPassword(password, { known: [user.email, user.name ?? ''] })
  return withSecondFactor(parts, user, origin, () => {
    // Another request may have used the link in the meantime.
    const userId = userOf(db, token, clock.now())
    if (userId === null) throw notInForce()
    checkSecondFactor(parts, userId, code, origin)
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(passwordHash, userId)
    endReset(db, userId)
    const ended = endEarlierAccess(db, clock, userId)
    const answer = signedIn(db, openSession(db, clock, userId, 'password', { origin }), userId)
    if (answer.orgs.length === 0) throw new AppError('forbidden', 'the user is not a member of any organization')
    const { address, userAgent } = origin
    auditEverywhere(parts, userId, { act: 'resetPassword', userId, address, note: { userAgent, ...ended } })
    return { ...answer, ...ended }
  })
}
