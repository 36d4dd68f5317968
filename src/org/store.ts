import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId, newSecret } from '../core/id.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import type { Role } from '../http/principal.ts'
import { type Db, tx } from '../store/database.ts'
import { expiryOf, type Key, type KeyInput, type NewKey } from './key.ts'
import { checkName, type Membership, newCustomerSalt, newWebhookSecret, type Org } from './org.ts'
import { checkEmail, hashPassword, type User } from './user.ts'

/** One page of a list: up to `limit` rows that follow the place `after` (an id); null is the start. */
export interface Slice {
  after: string | number | null
  limit: number
}

/** Stores an organization with a webhook secret and a customer salt of its own. Fails with `invalid` on a blank name. */
export function createOrg(db: Db, box: SecretBox, clock: Clock, { name }: { name: string }): Org {
  const createdAt = clock.now()
  const org: Org = {
    id: newId('org', createdAt),
    name: checkName(name, 'orgName'),
    customerSalt: newCustomerSalt(),
    createdAt,
  }
  db.prepare(
    `INSERT INTO org (id, name, webhookSecret, customerSalt, createdAt)
     VALUES (@id, @name, @webhookSecret, @customerSalt, @createdAt)`,
  ).run({ ...org, webhookSecret: box.seal(newWebhookSecret()) })
  return org
}

/** Null when there is no such organization. */
export function findOrg(db: Db, orgId: string): Org | null {
  const find = db.prepare<[string], Org>('SELECT id, name, customerSalt, createdAt FROM org WHERE id = ?')
  return find.get(orgId) ?? null
}

/** `whsec_…`. Fails with `notFound` when there is no such organization, and when it was sealed with another key. */
export function openWebhookSecret(db: Db, box: SecretBox, orgId: string): string {
  const find = db.prepare<[string], { webhookSecret: Buffer }>('SELECT webhookSecret FROM org WHERE id = ?')
  const row = find.get(orgId)
  if (!row) throw new AppError('notFound', 'no such organization')
  return box.open(row.webhookSecret)
}

/** The organizations that a user belongs to, oldest first; at most `limit + 1`, so that the caller sees if more follow. */
export function listMemberships(db: Db, userId: string, { after, limit }: Slice): Membership[] {
  return db
    .prepare<[object], Membership>(
      `SELECT org.id, org.name, member.role FROM member JOIN org ON org.id = member.orgId
       WHERE member.userId = @userId AND (@after IS NULL OR org.id > @after) ORDER BY org.id LIMIT @limit + 1`,
    )
    .all({ userId, after, limit })
}

export interface NewUser {
  email: string
  name?: string | null
  /** As `hashPassword` answers it; null or absent: the user can't sign in with a password. */
  passwordHash?: string | null
}

/** Stores a user who belongs to no organization yet. Fails with `invalid` or, when the address is taken, `conflict`. */
export function createUser(db: Db, clock: Clock, { email, name, passwordHash }: NewUser): User {
  const createdAt = clock.now()
  const user: User = { id: newId('usr', createdAt), email: checkEmail(email), name: name ?? null }
  tx(db, () => {
    const taken = db.prepare('SELECT 1 FROM user WHERE email = ?').get(user.email)
    if (taken) throw new AppError('conflict', 'email: a user with this address exists')
    db.prepare(
      'INSERT INTO user (id, email, name, passwordHash, createdAt) VALUES (@id, @email, @name, @passwordHash, @createdAt)',
    ).run({ ...user, passwordHash: passwordHash ?? null, createdAt })
  })
  return user
}

/** Makes a user a member of an organization. */
export function addMember(db: Db, clock: Clock, member: { orgId: string; userId: string; role: Role }): void {
  db.prepare('INSERT INTO member (orgId, userId, role, createdAt) VALUES (@orgId, @userId, @role, @createdAt)').run({
    ...member,
    createdAt: clock.now(),
  })
}

/** A new user who owns the organization. Fails as `createUser` does. */
export function createOwner(db: Db, clock: Clock, { orgId, ...owner }: NewUser & { orgId: string }): User {
  return tx(db, () => {
    const user = createUser(db, clock, owner)
    addMember(db, clock, { orgId, userId: user.id, role: 'owner' })
    return user
  })
}

/** Null when there is no such user. */
export function findUser(db: Db, userId: string): User | null {
  return db.prepare<[string], User>('SELECT id, email, name FROM user WHERE id = ?').get(userId) ?? null
}

/** The only place where the secret of a key is known: its SHA-256 is stored. */
export function createKey(db: Db, clock: Clock, { userId, ...input }: KeyInput & { userId: string }): NewKey {
  const createdAt = clock.now()
  const secret = newSecret('ak')
  const key = {
    id: newId('key', createdAt),
    name: checkName(input.name, 'name'),
    readOnly: input.readOnly ?? false,
    createdAt,
    expiresAt: expiryOf(input.expiresInDays, createdAt),
  }
  db.prepare(
    `INSERT INTO apiKey (id, userId, name, secretHash, secretTail, readOnly, createdAt, expiresAt)
     VALUES (@id, @userId, @name, @secretHash, @secretTail, @readOnly, @createdAt, @expiresAt)`,
  ).run({
    ...key,
    userId,
    readOnly: Number(key.readOnly),
    secretHash: secretHash(secret),
    secretTail: secret.slice(-4),
  })
  return { ...key, secret }
}

/** Whose keys: one user's, or those of all members of an organization. */
export type KeyOwner = { userId: string } | { orgId: string }

const OWNED = `(apiKey.userId = @userId OR apiKey.userId IN (SELECT userId FROM member WHERE orgId = @orgId))`

function ownedBy(owner: KeyOwner): { userId: string | null; orgId: string | null } {
  return { userId: null, orgId: null, ...owner }
}

/** Newest first, without revoked ones; expired ones stay. At most `limit + 1`. */
export function listKeys(db: Db, owner: KeyOwner, { after, limit }: Slice): Key[] {
  const rows = db
    .prepare<[object], Omit<Key, 'readOnly'> & { readOnly: number }>(
      `SELECT id, userId, name, readOnly, secretTail, createdAt, expiresAt, lastUsedAt FROM apiKey
       WHERE ${OWNED} AND revokedAt IS NULL AND (@after IS NULL OR id < @after) ORDER BY id DESC LIMIT @limit + 1`,
    )
    .all({ ...ownedBy(owner), after, limit })
  return rows.map((row) => ({ ...row, readOnly: row.readOnly === 1 }))
}

/** From the next request on the key is refused. Fails with `notFound` when the owner has no such key in force. */
export function revokeKey(db: Db, clock: Clock, owner: KeyOwner, keyId: string): void {
  const { changes } = db
    .prepare(`UPDATE apiKey SET revokedAt = @at WHERE id = @keyId AND revokedAt IS NULL AND ${OWNED}`)
    .run({ ...ownedBy(owner), keyId, at: clock.now() })
  if (changes === 0) throw new AppError('notFound', 'no such key')
}

function refuseSecondOwner(db: Db): void {
  const owner = db.prepare(`SELECT 1 FROM member WHERE role = 'owner'`).get()
  if (owner) throw new AppError('conflict', 'an owner exists already')
}

export interface Initial {
  orgName: string
  email: string
  /** Null: the owner can't sign in with a password yet. */
  password: string | null
}

/**
 * The first organization, its owner, and one full API key that never expires: all or nothing. Fails with `conflict`
 * when any owner exists, `invalid` when a field does not fit.
 */
export async function initialize(
  db: Db,
  box: SecretBox,
  clock: Clock,
  { orgName, email, password }: Initial,
): Promise<{ orgId: string; userId: string; apiKey: string }> {
  refuseSecondOwner(db)
  const passwordHash = password === null ? null : await hashPassword(password)
  return tx(db, () => {
    // Again: another call may have finished while the password was hashed.
    refuseSecondOwner(db)
    const org = createOrg(db, box, clock, { name: orgName })
    const user = createOwner(db, clock, { orgId: org.id, email, passwordHash })
    const key = createKey(db, clock, { userId: user.id, name: 'First key', expiresInDays: null })
    return { orgId: org.id, userId: user.id, apiKey: key.secret }
  })
}

/** Countries (ISO 3166-1 alpha-2) whose national phone numbers the organization looks for; empty: none. */
export function phoneRegionsOf(db: Db, orgId: string): string[] {
  const row = db.prepare<[string], { phoneRegions: string }>('SELECT phoneRegions FROM org WHERE id = ?').get(orgId)
  return row ? (JSON.parse(row.phoneRegions) as string[]) : []
}
