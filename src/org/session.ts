import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { newSecret } from '../core/id.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import type { Origin } from '../http/client-info.ts'
import { type Db, tx } from '../store/database.ts'
import { revokeKeysOf } from './api-key-store.ts'
import { MembershipSchema } from './org.ts'
import { findUser, listMemberships } from './store.ts'

/** A session expires after this period without use. */
export const SESSION_MS = 12 * HOUR_MS

/** Ways in which a session can be opened. */
export const SESSION_ORIGINS = ['password', 'setup', 'invite', 'oidc'] as const
type SessionOrigin = (typeof SESSION_ORIGINS)[number]

/** Maximum number of organizations in the response to a sign-in. No user belongs to this many organizations. */
const ORGS_MAX = 1000

/** A new session. Only this object contains the token. */
export interface NewSession {
  /** `st_…`; only its SHA-256 hash is stored. */
  token: string
  expiresAt: Instant
}

const signedInFields = {
  token: Type.String({ description: 'Send it as `Authorization: Bearer`. Shown only in this response' }),
  expiresAt: Type.Number({ ...InstantSchema, description: 'Extended to 12 hours from each use' }),
  user: Closed({ id: Type.String(), email: Type.String(), name: Nullable(Type.String()) }),
  orgs: Type.Array(MembershipSchema, { description: 'Organizations that the user belongs to, oldest first' }),
}
const SIGNED_IN = {
  token: 'st_7hQ2mV9xK4cT1nB8wZ5yR3jF6gL0pD-sAe_UiOtXcEq',
  expiresAt: 1_767_657_600_000,
  user: { id: 'usr_01ke7jhv00t2y7h4f6q9a3w5kc', email: 'ann@example.com', name: 'Ann' },
  orgs: [{ id: 'org_01ke7jhv00p5s9c2g4w8e6m1xr', name: 'Acme', role: 'owner' }],
}
/** The response to every kind of sign-in. */
export const SignedInSchema = Closed(signedInFields, { $id: 'SignedIn', examples: [SIGNED_IN] })
export type SignedIn = Static<typeof SignedInSchema>

/** Counts of the sessions and keys that a new password has revoked. */
const endedFields = {
  revokedKeys: Int({ minimum: 0, description: 'Number of API keys that were revoked' }),
  endedSessions: Int({ minimum: 0, description: 'Number of sessions that were ended' }),
}
const ENDED = { ok: true, revokedKeys: 2, endedSessions: 1 }
export const EndedSchema = Closed({ ok: Type.Boolean(), ...endedFields }, { $id: 'AccessEnded', examples: [ENDED] })
export type Ended = Static<typeof EndedSchema>

/** The response to a sign-in that has revoked earlier access. */
export const SignedInAnewSchema = Closed(
  { ...signedInFields, ok: Type.Boolean(), ...endedFields },
  { $id: 'SignedInAnew', examples: [{ ...SIGNED_IN, ...ENDED }] },
)
export type SignedInAnew = Static<typeof SignedInAnewSchema>

/**
 * Deletes the sessions of a user, except `except`, and revokes all of the user's API keys. Returns how many sessions
 * and keys were valid.
 */
export function endEarlierAccess(
  db: Db,
  clock: Clock,
  userId: string,
  options: { except?: string | null } = {},
): Ended {
  return {
    ok: true,
    revokedKeys: revokeKeysOf(db, clock, userId),
    endedSessions: endSessionsOf(db, clock, userId, options),
  }
}

/**
 * Creates a session that lasts 12 hours, and deletes the expired sessions of all users. `origin` is the request that
 * opens it; omitted when unknown. `endSessionUrl` is the encrypted URL at which the browser also signs out from the
 * provider; omitted for sessions without one.
 */
export function openSession(
  db: Db,
  clock: Clock,
  userId: string,
  via: SessionOrigin,
  { origin, endSessionUrl = null }: { origin?: Origin; endSessionUrl?: Uint8Array | null } = {},
): NewSession {
  const now = clock.now()
  const session = { token: newSecret('st'), expiresAt: now + SESSION_MS }
  tx(db, () => {
    db.prepare('DELETE FROM session WHERE expiresAt <= ?').run(now)
    db.prepare(
      `INSERT INTO session (tokenHash, userId, via, createdAt, lastUsedAt, expiresAt, endSessionUrl, address, userAgent)
       VALUES (@tokenHash, @userId, @via, @now, @now, @expiresAt, @endSessionUrl, @address, @userAgent)`,
    ).run({
      tokenHash: secretHash(session.token),
      userId,
      via,
      now,
      expiresAt: session.expiresAt,
      endSessionUrl,
      address: origin?.address ?? null,
      userAgent: origin?.userAgent ?? null,
    })
  })
  return session
}

/** After the clock has been set back, sets `lastUsedAt` values in the future to `now` and adjusts the expiry. */
export function shortenSessions(db: Db, now: Instant): void {
  const used = { now, expiresAt: now + SESSION_MS }
  db.prepare('UPDATE session SET lastUsedAt = @now, expiresAt = @expiresAt WHERE lastUsedAt > @now').run(used)
}

/** Deletes a session if it exists. The next request that uses the session is rejected. */
export function endSession(db: Db, sessionId: string): void {
  db.prepare('DELETE FROM session WHERE tokenHash = ?').run(Buffer.from(sessionId, 'hex'))
}

/** Returns the URL at which the browser also signs out from the provider; null when there is none. */
export function endSessionUrlOf(db: Db, box: SecretBox, sessionId: string): string | null {
  const sealed = db
    .prepare<[Buffer], Uint8Array | null>('SELECT endSessionUrl FROM session WHERE tokenHash = ?')
    .pluck()
    .get(Buffer.from(sessionId, 'hex'))
  try {
    return sealed ? box.open(sealed) : null
  } catch {
    // The URL was encrypted with the key of another data folder.
    return null
  }
}

/** A session without its token. */
export interface SessionRecord {
  /** SHA-256 hash of the token in hexadecimal. */
  id: string
  via: SessionOrigin
  createdAt: Instant
  lastUsedAt: Instant
  expiresAt: Instant
  /** IP address from which the session was opened; null when unknown. */
  address: string | null
  /** The `user-agent` that opened the session, truncated to 200 characters; null when unknown. */
  userAgent: string | null
}

/** Returns a user's unexpired sessions, most recently used first. */
export function listSessions(db: Db, clock: Clock, userId: string): SessionRecord[] {
  return db
    .prepare<[string, Instant], SessionRecord>(
      `SELECT lower(hex(tokenHash)) AS id, via, createdAt, lastUsedAt, expiresAt, address, userAgent FROM session
       WHERE userId = ? AND expiresAt > ? ORDER BY lastUsedAt DESC, createdAt DESC, id`,
    )
    .all(userId, clock.now())
}

/** Deletes all sessions of a user, except `except`. Returns the number of sessions that had not expired. */
export function endSessionsOf(
  db: Db,
  clock: Clock,
  userId: string,
  { except = null }: { except?: string | null } = {},
): number {
  const kept = except === null ? null : Buffer.from(except, 'hex')
  const ended = db
    .prepare<[object], Instant>(
      'DELETE FROM session WHERE userId = @userId AND tokenHash IS NOT @kept RETURNING expiresAt',
    )
    .pluck()
    .all({ userId, kept })
  return ended.filter((expiresAt) => expiresAt > clock.now()).length
}

/** Returns the response to a successful sign-in. */
export function signedIn(db: Db, { token, expiresAt }: NewSession, userId: string): SignedIn {
  const user = findUser(db, userId)
  if (!user) throw new Error(`there is no user ${userId}`)
  const { id, email, name } = user
  const orgs = listMemberships(db, { userId }, { limit: ORGS_MAX }).items
  return { token, expiresAt, user: { id, email, name }, orgs }
}
