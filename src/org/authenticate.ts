import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { secretHash } from '../core/secret-box.ts'
import type { Authenticate } from '../http/controller.ts'
import type { Role } from '../http/principal.ts'
import type { Db } from '../store/database.ts'

/** One row for each organization of the key's user; one with nulls when there is none. */
interface KeyRow {
  keyId: string
  userId: string
  readOnly: number
  expiresAt: Instant | null
  revokedAt: Instant | null
  lastUsedAt: Instant | null
  orgId: string | null
  role: Role | null
}

const FIND_KEY = `
  SELECT apiKey.id AS keyId, apiKey.userId, readOnly, expiresAt, revokedAt, lastUsedAt, orgId, role
  FROM apiKey LEFT JOIN member ON member.userId = apiKey.userId
  WHERE secretHash = ? ORDER BY orgId`

function bearerOf(headers: Headers): string {
  const credential = headers.get('authorization')?.match(/^bearer +(\S+) *$/i)?.[1]
  if (!credential)
    throw new AppError('unauthorized', 'no credential: send the header "Authorization: Bearer <API key>"')
  return credential
}

/** The organization that the request is for. */
function chooseOrg(rows: KeyRow[], wanted: string | null): { orgId: string; role: Role } {
  const memberships = rows.flatMap(({ orgId, role }) => (orgId && role ? [{ orgId, role }] : []))
  const [first, second] = memberships
  if (wanted) {
    const chosen = memberships.find(({ orgId }) => orgId === wanted)
    if (!chosen) throw new AppError('forbidden', 'X-Org-Id: the user is not a member of this organization')
    return chosen
  }
  if (!first) throw new AppError('forbidden', 'the user is not a member of any organization')
  if (second) {
    const ids = memberships.map(({ orgId }) => orgId).join(', ')
    throw new AppError('invalid', `X-Org-Id: the user belongs to several organizations, name one of ${ids}`)
  }
  return first
}

/**
 * Knows callers by their API key, with the role that its creator has at this moment. Fails with `unauthorized` for
 * every credential that is not in force, without saying why; `invalid` when the user belongs to several organizations
 * and `X-Org-Id` is missing (the message lists their ids); `forbidden` when the user is not a member of the one named.
 * `lastUsedAt` of a key is exact to a minute.
 */
export function authenticator({ db, clock }: { db: Db; clock: Clock }): Authenticate {
  const findKey = db.prepare<[Buffer], KeyRow>(FIND_KEY)
  const noteUse = db.prepare<[Instant, string]>('UPDATE apiKey SET lastUsedAt = ? WHERE id = ?')
  return (headers) => {
    const now = clock.now()
    const rows = findKey.all(secretHash(bearerOf(headers)))
    const key = rows[0]
    if (!key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) {
      throw new AppError('unauthorized', 'unknown, expired or revoked credential')
    }
    const { orgId, role } = chooseOrg(rows, headers.get('x-org-id'))
    if (key.lastUsedAt === null || now - key.lastUsedAt >= MINUTE_MS) noteUse.run(now, key.keyId)
    const readOnly = key.readOnly === 1 || role === 'viewer'
    return { via: 'key', userId: key.userId, orgId, role, readOnly, keyId: key.keyId }
  }
}
