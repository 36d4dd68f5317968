import type { Role } from '../contract/roles.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId, newSecret } from '../core/id.ts'
import { secretHash } from '../core/secret-box.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import type { Db } from '../store/database.ts'
import { expiryOf, isReadOnly, type Key, type KeyInput, type NewKey, scopesOf } from './api-key.ts'
import { checkName } from './org.ts'

/** Maximum number of active keys per user and organization. */
const KEYS_MAX = 50

/** Matches unrevoked keys that have not expired at `@now`. */
const IN_FORCE = 'revokedAt IS NULL AND (expiresAt IS NULL OR expiresAt > @now)'

/**
 * Creates an API key for a user in an organization. Returns the key with its secret, of which only the SHA-256 hash is
 * stored. Throws `conflict` when the user already has 50 active keys in the organization, `invalid` for a blank name,
 * and the errors of `scopesOf`.
 *
 * @param role the user's role; default `owner`
 */
export function createKey(
  db: Db,
  clock: Clock,
  { userId, orgId, role = 'owner', ...input }: KeyInput & { userId: string; orgId: string; role?: Role },
): NewKey {
  const now = clock.now()
  const count = db.prepare<[object], number>(
    `SELECT count(*) FROM apiKey WHERE userId = @userId AND orgId = @orgId AND ${IN_FORCE}`,
  )
  if ((count.pluck().get({ userId, orgId, now }) ?? 0) >= KEYS_MAX) {
    throw new AppError('conflict', `a user can have at most ${KEYS_MAX} keys in an organization; revoke one first`)
  }
  const secret = newSecret('ak')
  const scopes = scopesOf(input, role)
  const key = {
    id: newId('key', now),
    name: checkName(input.name, 'name'),
    scopes,
    createdAt: now,
    expiresAt: expiryOf(input.expiresInDays, now),
  }
  db.prepare(
    `INSERT INTO apiKey (id, userId, orgId, name, secretHash, secretTail, scopes, createdAt, expiresAt)
     VALUES (@id, @userId, @orgId, @name, @secretHash, @secretTail, @scopes, @createdAt, @expiresAt)`,
  ).run({
    ...key,
    userId,
    orgId,
    scopes: JSON.stringify(scopes),
    secretHash: secretHash(secret),
    secretTail: secret.slice(-4),
  })
  return { ...key, readOnly: isReadOnly(scopes), secret }
}

/** The owner of keys: an organization or, with `userId`, one of its users. */
export interface KeyOwner {
  orgId: string
  userId?: string
}

const OWNED = 'orgId = @orgId AND (@userId IS NULL OR userId = @userId)'

type KeyRow = Omit<Key, 'readOnly' | 'scopes'> & { scopes: string }

/** Returns a page of the owner's unrevoked keys, including expired ones, newest first. */
export function listKeys(db: Db, owner: KeyOwner, page: PageRequest): Page<Key> {
  return readPage(db, page, {
    sql: `SELECT id, userId, name, scopes, secretTail, createdAt, expiresAt, lastUsedAt FROM apiKey
      WHERE ${OWNED} AND revokedAt IS NULL`,
    values: { userId: null, ...owner },
    sortBy: 'id',
    descending: true,
    itemOf({ scopes: stored, ...row }: KeyRow): Key {
      const scopes = JSON.parse(stored)
      return { ...row, readOnly: isReadOnly(scopes), scopes }
    },
  })
}

/**
 * Revokes a key. The next request with the key is rejected. Throws `notFound` when the owner has no such unrevoked key.
 */
export function revokeKey(db: Db, clock: Clock, owner: KeyOwner, keyId: string): void {
  const { changes } = db
    .prepare<[object]>(`UPDATE apiKey SET revokedAt = @now WHERE id = @keyId AND revokedAt IS NULL AND ${OWNED}`)
    .run({ userId: null, ...owner, keyId, now: clock.now() })
  if (changes === 0) throw new AppError('notFound', 'no such key')
}

/**
 * Revokes all keys of a user or, with `orgId`, only the user's keys in that organization. Returns the number of keys
 * that were active.
 */
export function revokeKeysOf(db: Db, clock: Clock, userId: string, orgId: string | null = null): number {
  const now = clock.now()
  const revoke = db.prepare<[object], { expiresAt: Instant | null }>(
    `UPDATE apiKey SET revokedAt = @now WHERE userId = @userId AND (@orgId IS NULL OR orgId = @orgId)
     AND revokedAt IS NULL RETURNING expiresAt`,
  )
  return revoke.all({ userId, orgId, now }).filter(({ expiresAt }) => expiresAt === null || expiresAt > now).length
}
