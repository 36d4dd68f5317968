import { AppError } from '../core/error.ts'
import type { Origin } from '../http/client-info.ts'
import type { Principal } from '../http/principal.ts'
import { tx } from '../store/database.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { endReset } from './password-reset.ts'
import { type Ended, endEarlierAccess } from './session.ts'
import { auditEverywhere, type PasswordSignInDeps } from './sign-in.ts'

/** Returns the id of the caller's session. Throws `conflict` when the caller uses an API key. */
export function sessionOf({ sessionId }: Principal): string {
  if (sessionId === null) throw new AppError('conflict', 'this requires a session; API keys are not accepted')
  return sessionId
}

const wrong = () => new AppError('forbidden', 'currentPassword: is wrong')

/**
 * Changes the caller's password. Deletes all other sessions of the user, invalidates the user's password reset links,
 * and revokes all of the user's API keys. Throws `forbidden` when the current password is wrong, `conflict` for an API
 * key and for users without a password, and `rateLimited` after too many attempts. Throws `invalid` when the new
 * password is invalid.
 */
export async function changePassword(
  parts: PasswordSignInDeps,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
  { principal, origin }: { principal: Principal; origin: Origin },
): Promise<Ended> {
  const { db, clock, limits } = parts
  const { userId, orgId } = principal
  const sessionId = sessionOf(principal)
  const find = db.prepare<[string], { email: string; passwordHash: string | null }>(
    'SELECT email, passwordHash FROM user WHERE id = ?',
  )
  const user = find.get(userId)
  if (!user?.passwordHash) throw new AppError('conflict', 'the user has no password')
  limits.byAccount(user.email, origin)
  if (!(await verifyPassword(currentPassword, user.passwordHash))) throw wrong()
  const passwordHash = await hashPassword(newPassword, { field: 'newPassword', known: [user.email] })
  return tx(db, () => {
    // Another request may have changed the password in the meantime and deleted this session.
    if (find.get(userId)?.passwordHash !== user.passwordHash) throw wrong()
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(passwordHash, userId)
    const ended = endEarlierAccess(db, clock, userId, { except: sessionId })
    endReset(db, userId)
    const note = { revokedKeys: ended.revokedKeys, endedSessions: ended.endedSessions }
    const entry = { act: 'changePassword', userId, address: origin.address, note }
    auditEverywhere(parts, userId, entry, orgId)
    return ended
  })
}
