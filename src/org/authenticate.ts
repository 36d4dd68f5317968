import type { KeyScope } from '../contract/key-scopes.ts'
import type { Role } from '../contract/roles.ts'
import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { secretHash } from '../core/secret-box.ts'
import type { Principal } from '../http/principal.ts'
import type { Authenticate } from '../http/router.ts'
import { type Db, prepared } from '../store/database.ts'
import { isReadOnly } from './api-key.ts'
import { keyNeedsSecondFactor, sessionNeedsSecondFactor } from './second-factor.ts'
import { SESSION_MS } from './session.ts'

interface Credential {
  userId: string
  expiresAt: Instant | null
  lastUsedAt: Instant | null
}

/**
 * A session, with one row for each organization of its user. For a user without organizations, there is one row with
 * nulls.
 */
interface SessionRow extends Credential {
  orgId: string | null
  role: Role | null
  /** 1 when the organization requires a second factor that the user has not set up. */
  isSecondFactorDue: number
}

interface KeyRow extends Credential {
  keyId: string
  /** Scopes as a JSON array. */
  scopes: string
  orgId: string
  isSecondFactorDue: number
  /** Null when the user is not a member of the organization. */
  role: Role | null
}

// An invited user is not a member before accepting the invitation.
const FIND_KEY = `
  SELECT apiKey.id AS keyId, apiKey.userId, scopes, expiresAt, lastUsedAt, apiKey.orgId, role,
    ${keyNeedsSecondFactor} AS isSecondFactorDue
  FROM apiKey JOIN org ON org.id = apiKey.orgId
    LEFT JOIN member ON member.userId = apiKey.userId AND member.orgId = apiKey.orgId AND member.inviteHash IS NULL
  WHERE secretHash = ? AND revokedAt IS NULL`

const FIND_SESSION = `
  SELECT session.userId, expiresAt, lastUsedAt, orgId, role,
    ifnull(${sessionNeedsSecondFactor}, 0) AS isSecondFactorDue
  FROM session LEFT JOIN member ON member.userId = session.userId AND member.inviteHash IS NULL
    LEFT JOIN org ON org.id = member.orgId
  WHERE tokenHash = ? ORDER BY orgId`

function bearerOf(headers: Headers): string {
  const credential = headers.get('authorization')?.match(/^bearer +(\S+) *$/i)?.[1]
  if (!credential) {
    throw new AppError(
      'unauthorized',
      'no credential: send the header "Authorization: Bearer <API key or session token>"',
    )
  }
  return credential
}

/** Throws `unauthorized` when a credential is unknown, revoked or expired. */
function requireInForce<C extends Credential>(credential: C | undefined, now: Instant): C {
  if (!credential || (credential.expiresAt !== null && credential.expiresAt <= now)) {
    throw new AppError('unauthorized', 'unknown, expired or revoked credential')
  }
  return credential
}

/** The organization that a request refers to. */
interface Wanted {
  /** Null or empty when the request names no organization. */
  orgId: string | null
  /** True when the user's first organization is used by default. */
  any: boolean
  /** True when the request is allowed to a member who must still set up a second factor. */
  beforeSecondFactor: boolean
}

interface Membership {
  orgId: string
  role: Role
  isSecondFactorDue: number
}

function chooseOrg(rows: SessionRow[], wanted: Wanted): Membership {
  const memberships = rows.flatMap(({ orgId, role, isSecondFactorDue }) =>
    orgId && role ? [{ orgId, role, isSecondFactorDue }] : [],
  )
  const [first, second] = memberships
  if (wanted.orgId) {
    const chosen = memberships.find(({ orgId }) => orgId === wanted.orgId)
    if (!chosen) throw new AppError('forbidden', 'X-Org-Id: the user is not a member of this organization')
    return chosen
  }
  if (!first) throw new AppError('forbidden', 'the user is not a member of any organization')
  if (second && !wanted.any) {
    const ids = memberships.map(({ orgId }) => orgId).join(', ')
    throw new AppError('invalid', `X-Org-Id: the user belongs to several organizations; specify one of ${ids}`)
  }
  return first
}

function refuseWithoutSecondFactor(due: number, { beforeSecondFactor }: Wanted): void {
  if (due === 0 || beforeSecondFactor) return
  throw new AppError(
    'forbidden',
    'this organization requires a second factor, which you have not set up; sign in to the dashboard to set it up',
  )
}

const isDue = (lastUsedAt: Instant | null, now: Instant) => lastUsedAt === null || now - lastUsedAt >= MINUTE_MS

type Known = (secret: string, wanted: Wanted) => Principal

function byKey({ db, clock }: { db: Db; clock: Clock }): Known {
  const find = db.prepare<[Buffer], KeyRow>(FIND_KEY)
  const noteUse = db.prepare<[Instant, string]>('UPDATE apiKey SET lastUsedAt = ? WHERE id = ?')
  return (secret, wanted) => {
    const now = clock.now()
    const found = requireInForce(find.get(secretHash(secret)), now)
    const { keyId, userId, orgId, role, ...key } = found
    if (wanted.orgId && wanted.orgId !== orgId) {
      throw new AppError('forbidden', 'X-Org-Id: this key belongs to another organization')
    }
    if (role === null) throw new AppError('forbidden', 'the user of this key is not a member of its organization')
    refuseWithoutSecondFactor(found.isSecondFactorDue, wanted)
    if (isDue(key.lastUsedAt, now)) noteUse.run(now, keyId)
    const scopes: KeyScope[] = JSON.parse(key.scopes)
    const readOnly = isReadOnly(scopes) || role === 'viewer'
    const limits = scopes.includes('all') ? {} : { scopes }
    return { via: 'key', userId, orgId, role, readOnly, keyId, sessionId: null, ...limits }
  }
}

function bySession({ db, clock }: { db: Db; clock: Clock }): Known {
  const find = db.prepare<[Buffer], SessionRow>(FIND_SESSION)
  const noteUse = db.prepare<[Instant, Instant, Buffer]>(
    'UPDATE session SET lastUsedAt = ?, expiresAt = ? WHERE tokenHash = ?',
  )
  return (token, wanted) => {
    const now = clock.now()
    const hash = secretHash(token)
    const rows = find.all(hash)
    const first = requireInForce(rows[0], now)
    const { orgId, role, isSecondFactorDue } = chooseOrg(rows, wanted)
    refuseWithoutSecondFactor(isSecondFactorDue, wanted)
    if (isDue(first.lastUsedAt, now)) noteUse.run(now, now + SESSION_MS, hash)
    const sessionId = hash.toString('hex')
    return { via: 'session', userId: first.userId, orgId, role, readOnly: false, keyId: null, sessionId }
  }
}

/**
 * Returns a function that authenticates a caller by API key or session token. It returns the principal with the user's
 * current role. A key acts in its own organization.
 *
 * It throws `unauthorized`, without a reason, for every invalid credential. It throws `invalid` when the user of a
 * session belongs to several organizations and `X-Org-Id` is missing; the message lists their ids. It throws
 * `forbidden` when the user is not a member of the named organization, when the key belongs to another one, and when
 * the organization requires a second factor that the user has not set up. `lastUsedAt` and the session's expiry are
 * accurate to the minute.
 */
export function authenticator(parts: { db: Db; clock: Clock }): Authenticate {
  const key = byKey(parts)
  const session = bySession(parts)
  return (headers, { anyOrg = false, beforeSecondFactor = false } = {}) => {
    const credential = bearerOf(headers)
    const known = credential.startsWith('st_') ? session : key
    return known(credential, { orgId: headers.get('x-org-id'), any: anyOrg, beforeSecondFactor })
  }
}

const KEY_IN_FORCE = `
  SELECT 1 FROM apiKey JOIN org ON org.id = apiKey.orgId JOIN member
    ON member.userId = apiKey.userId AND member.orgId = apiKey.orgId AND member.inviteHash IS NULL
  WHERE apiKey.id = @keyId AND apiKey.orgId = @orgId AND revokedAt IS NULL AND (expiresAt IS NULL OR expiresAt > @now)
    AND NOT ${keyNeedsSecondFactor}`

const SESSION_IN_FORCE = `
  SELECT 1 FROM session JOIN member ON member.userId = session.userId AND member.inviteHash IS NULL
    JOIN org ON org.id = member.orgId
  WHERE tokenHash = @tokenHash AND orgId = @orgId AND expiresAt > @now AND NOT ${sessionNeedsSecondFactor}`

/**
 * Returns whether the caller's credential is still valid and the user is still a member of the organization. Checked
 * during long-running responses. Unlike a request, this check does not count as use of the credential.
 */
export function isInForce({ db, clock }: { db: Db; clock: Clock }, principal: Principal): boolean {
  const { orgId, keyId, sessionId } = principal
  const now = clock.now()
  const row =
    keyId === null
      ? prepared<[object]>(db, SESSION_IN_FORCE).get({ orgId, now, tokenHash: Buffer.from(sessionId ?? '', 'hex') })
      : prepared<[object]>(db, KEY_IN_FORCE).get({ orgId, now, keyId })
  return row !== undefined
}
