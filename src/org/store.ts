import type { Role } from '../contract/roles.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { checkEmail } from '../core/email-address.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { createKey } from './api-key-store.ts'
import { INTERNAL_ORG_ID } from './internal-org.ts'
import {
  checkName,
  type Membership,
  newCustomerSalt,
  newWebhookSecret,
  type Org,
  type OrganizationPatch,
  type PiiPattern,
} from './org.ts'
import { hashPassword, type User } from './password-hash.ts'

/** Creates an organization with its own webhook secret and customer salt. Throws `invalid` for a blank name. */
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

/**
 * Recreates an organization of which only the id is known. Returns false without changes when the organization exists
 * or has been deleted.
 */
export function recoverOrg(db: Db, box: SecretBox, org: { id: string; createdAt: Instant }): boolean {
  const { changes } = db
    .prepare(
      `INSERT INTO org (id, name, webhookSecret, customerSalt, createdAt)
       SELECT @id, @name, @webhookSecret, @customerSalt, @createdAt
       WHERE NOT EXISTS (SELECT 1 FROM org WHERE id = @id) AND NOT EXISTS (SELECT 1 FROM deletedOrg WHERE orgId = @id)`,
    )
    .run({
      ...org,
      name: `Recovered organization ${org.id}`,
      webhookSecret: box.seal(newWebhookSecret()),
      customerSalt: newCustomerSalt(),
    })
  return changes > 0
}

/** Returns the organization; null when there is none. */
export function findOrg(db: Db, orgId: string): Org | null {
  const find = db.prepare<[string], Org>('SELECT id, name, customerSalt, createdAt FROM org WHERE id = ?')
  return find.get(orgId) ?? null
}

/** Returns the organization. Throws `notFound` when there is none. */
export function requireOrg(db: Db, orgId: string): Org {
  const org = findOrg(db, orgId)
  if (!org) throw new AppError('notFound', 'no such organization')
  return org
}

/**
 * Returns the secret `whsec_…`. Throws `notFound` when the organization does not exist, and another error when the
 * secret was encrypted with another key.
 */
export function openWebhookSecret(db: Db, box: SecretBox, orgId: string): string {
  const find = db.prepare<[string], { webhookSecret: Buffer }>('SELECT webhookSecret FROM org WHERE id = ?')
  const row = find.get(orgId)
  if (!row) throw new AppError('notFound', 'no such organization')
  return box.open(row.webhookSecret)
}

/** Returns the encrypted webhook secrets of all organizations. */
export function sealedOrgs(db: Db): { id: string; secret: Buffer }[] {
  return db.prepare<[], { id: string; secret: Buffer }>('SELECT id, webhookSecret AS secret FROM org').all()
}

/** Replaces the secret that signs webhooks outside integrations, and returns the new secret. */
export function rotateWebhookSecret(db: Db, box: SecretBox, orgId: string): string {
  const secret = newWebhookSecret()
  db.prepare('UPDATE org SET webhookSecret = ? WHERE id = ?').run(box.seal(secret), orgId)
  return secret
}

/** True if this server has exactly one organization. */
export function isOnlyOrg(db: Db): boolean {
  const count = db.prepare<[string], number>('SELECT count(*) FROM org WHERE id <> ?').pluck()
  return count.get(INTERNAL_ORG_ID) === 1
}

/**
 * Throws `forbidden` unless this server has exactly one organization, whose owners then act for the operator. `reason`
 * continues the message.
 */
export function requireOnlyOrg(db: Db, reason: string): void {
  if (!isOnlyOrg(db)) throw new AppError('forbidden', `this server has several organizations; ${reason}`)
}

/** Changes the given fields. A null currency removes the currency. Throws `invalid` for a blank name. */
export function updateOrg(
  db: Db,
  orgId: string,
  { name, currency, phoneRegions, piiPatterns, consentOptIn, timezone, requireSecondFactor }: OrganizationPatch,
): void {
  db.prepare(
    `UPDATE org SET name = ifnull(@name, name), currency = iif(@hasCurrency, @currency, currency), phoneRegions = ifnull(@phoneRegions, phoneRegions),
       piiPatterns = ifnull(@piiPatterns, piiPatterns), consentOptIn = ifnull(@consentOptIn, consentOptIn),
       timezone = ifnull(@timezone, timezone), requireSecondFactor = ifnull(@requireSecondFactor, requireSecondFactor)
     WHERE id = @orgId`,
  ).run({
    orgId,
    name: name === undefined ? null : checkName(name, 'name'),
    hasCurrency: Number(currency !== undefined),
    currency: currency ?? null,
    phoneRegions: phoneRegions === undefined ? null : JSON.stringify([...new Set(phoneRegions)]),
    piiPatterns: piiPatterns === undefined ? null : JSON.stringify(piiPatterns),
    consentOptIn: consentOptIn === undefined ? null : Number(consentOptIn),
    timezone: timezone ?? null,
    requireSecondFactor: requireSecondFactor === undefined ? null : Number(requireSecondFactor),
  })
}

/**
 * Deletes an organization with all its rows, and removes the access of members who belong to no other organization. Its
 * event files stay listed until a job deletes the files of the organizations in `deletedOrg`. Throws `conflict` when it
 * is the only organization.
 */
export function deleteOrg(db: Db, clock: Clock, orgId: string): void {
  tx(db, () => {
    const another = db.prepare('SELECT 1 FROM org WHERE id NOT IN (?, ?)').get(orgId, INTERNAL_ORG_ID)
    if (!another) throw new AppError('conflict', 'the only organization on this server cannot be deleted')
    const members = db.prepare<[string], { userId: string }>('SELECT userId FROM member WHERE orgId = ?').all(orgId)
    db.prepare('DELETE FROM hostnameUsage WHERE domainId IN (SELECT id FROM domain WHERE orgId = @orgId)').run({
      orgId,
    })
    for (const table of ['usage', 'rejection']) db.prepare(`DELETE FROM ${table} WHERE orgId = ?`).run(orgId)
    db.prepare('DELETE FROM org WHERE id = ?').run(orgId)
    db.prepare('INSERT OR REPLACE INTO deletedOrg VALUES (?, ?)').run(orgId, clock.now())
    endAccess(
      db,
      clock,
      members.map(({ userId }) => userId),
    )
  })
}

/**
 * Deletes the sessions and revokes the keys of the given users who no longer belong to an organization. Deletes users
 * who never had access and no longer have a pending invitation.
 */
export function endAccess(db: Db, clock: Clock, userIds: readonly string[]): void {
  const belongs = db.prepare('SELECT 1 FROM member WHERE userId = ? AND inviteHash IS NULL')
  const signOut = db.prepare('DELETE FROM session WHERE userId = ?')
  const revoke = db.prepare('UPDATE apiKey SET revokedAt = ? WHERE userId = ? AND revokedAt IS NULL')
  const forget = db.prepare(
    `DELETE FROM user WHERE id = @userId AND passwordHash IS NULL
       AND NOT EXISTS (SELECT 1 FROM member WHERE userId = @userId)
       AND NOT EXISTS (SELECT 1 FROM apiKey WHERE userId = @userId)
       AND NOT EXISTS (SELECT 1 FROM identity WHERE userId = @userId)`,
  )
  for (const userId of userIds) {
    if (belongs.get(userId)) continue
    signOut.run(userId)
    revoke.run(clock.now(), userId)
    forget.run({ userId })
  }
}

/**
 * Returns a page of the organizations of which the user is a member, oldest first. Pending invitations are excluded.
 * `orgId`: only this organization.
 */
export function listMemberships(
  db: Db,
  { userId, orgId = null }: { userId: string; orgId?: string | null },
  page: PageRequest,
): Page<Membership> {
  return readPage(db, page, {
    sql: `SELECT id, name, role FROM member JOIN org ON id = orgId
      WHERE userId = @userId AND inviteHash IS NULL AND (@orgId IS NULL OR orgId = @orgId)`,
    values: { userId, orgId },
    sortBy: 'id',
    itemOf: (row: Membership) => row,
  })
}

/** Returns the number of organizations that a user owns. */
export function ownedOrgs(db: Db, userId: string): number {
  const count = db.prepare<[string], number>(
    `SELECT count(*) FROM member WHERE userId = ? AND role = 'owner' AND inviteHash IS NULL`,
  )
  return count.pluck().get(userId) ?? 0
}

export interface NewUser {
  email: string
  name?: string | null
  /** Result of `hashPassword`. Null or omitted when the user can't sign in with a password. */
  passwordHash?: string | null
}

/** Creates a user without an organization. Throws `invalid`, or `conflict` when the e-mail address is taken. */
export function createUser(db: Db, clock: Clock, { email, name, passwordHash }: NewUser): User {
  const createdAt = clock.now()
  const user: User = { id: newId('usr', createdAt), email: checkEmail(email), name: name ?? null }
  tx(db, () => {
    const taken = db.prepare('SELECT 1 FROM user WHERE email = ?').get(user.email)
    if (taken) throw new AppError('conflict', 'email: a user with this address already exists')
    db.prepare(
      'INSERT INTO user (id, email, name, passwordHash, createdAt) VALUES (@id, @email, @name, @passwordHash, @createdAt)',
    ).run({ ...user, passwordHash: passwordHash ?? null, createdAt })
  })
  return user
}

/** Adds a user to an organization as a member. */
export function addMember(db: Db, clock: Clock, member: { orgId: string; userId: string; role: Role }): void {
  db.prepare('INSERT INTO member (orgId, userId, role, createdAt) VALUES (@orgId, @userId, @role, @createdAt)').run({
    ...member,
    createdAt: clock.now(),
  })
}

/** Creates a user who owns the organization. Throws the errors of `createUser`. */
export function createOwner(db: Db, clock: Clock, { orgId, ...owner }: NewUser & { orgId: string }): User {
  return tx(db, () => {
    const user = createUser(db, clock, owner)
    addMember(db, clock, { orgId, userId: user.id, role: 'owner' })
    return user
  })
}

/** Changes the name of a user, which is shown in all organizations. Throws `invalid` for a blank name. */
export function renameUser(db: Db, userId: string, name: string): void {
  db.prepare('UPDATE user SET name = ? WHERE id = ?').run(checkName(name, 'name'), userId)
}

/** Returns the user; null when there is none. */
export function findUser(db: Db, userId: string): User | null {
  return db.prepare<[string], User>('SELECT id, email, name FROM user WHERE id = ?').get(userId) ?? null
}

/** True when any organization in the data folder has an owner. */
export function hasOwner(db: Db): boolean {
  return db.prepare(`SELECT 1 FROM member WHERE role = 'owner' AND inviteHash IS NULL`).get() !== undefined
}

function refuseSecondOwner(db: Db): void {
  if (hasOwner(db)) throw new AppError('conflict', 'an owner already exists')
}

export interface Initial {
  orgName: string
  email: string
  name?: string | null
  /** Null for an owner who can't sign in with a password yet. */
  password: string | null
}

/** Returns the organizations without members, oldest first, such as organizations recreated from their events. */
function orgsWithoutMembers(db: Db): string[] {
  const sql = `SELECT id FROM org WHERE id <> ? AND NOT EXISTS (SELECT 1 FROM member WHERE orgId = org.id)
    ORDER BY createdAt, id`
  return db.prepare<[string], string>(sql).pluck().all(INTERNAL_ORG_ID)
}

/** Renames the oldest organization without members and returns its id. Null when there is no such organization. */
function takeOverOrg(db: Db, name: string): string | null {
  const [orgId] = orgsWithoutMembers(db)
  if (orgId === undefined) return null
  updateOrg(db, orgId, { name })
  return orgId
}

/**
 * Creates the first organization and its owner, and runs `also`, in one transaction. Returns the result of `also`. If
 * there are organizations without members, makes the owner a member of those instead, and renames the oldest one.
 * Throws `conflict` when an owner exists, and `invalid` when a field is invalid.
 */
export async function makeFirstOwner<T>(
  db: Db,
  box: SecretBox,
  clock: Clock,
  { orgName, email, name, password }: Initial,
  also: (made: { orgId: string; userId: string }) => T,
): Promise<T> {
  refuseSecondOwner(db)
  const passwordHash = password === null ? null : await hashPassword(password, { known: [email, orgName, name ?? ''] })
  const work = () => {
    // Checked again, because another call may have created an owner while the password was hashed.
    refuseSecondOwner(db)
    const orgId = takeOverOrg(db, orgName) ?? createOrg(db, box, clock, { name: orgName }).id
    const user = createOwner(db, clock, { orgId, email, name: name ?? null, passwordHash })
    for (const other of orgsWithoutMembers(db)) addMember(db, clock, { orgId: other, userId: user.id, role: 'owner' })
    return { value: also({ orgId, userId: user.id }) }
  }
  return tx(db, work).value
}

/** Like `makeFirstOwner`, but also creates a full API key that never expires. */
export function initialize(
  db: Db,
  box: SecretBox,
  clock: Clock,
  initial: Initial,
): Promise<{ orgId: string; userId: string; apiKey: string }> {
  return makeFirstOwner(db, box, clock, initial, ({ orgId, userId }) => {
    const key = createKey(db, clock, { userId, orgId, name: 'First key', expiresInDays: null })
    return { orgId, userId, apiKey: key.secret }
  })
}

/**
 * Returns the organization's settings for detecting personal data. `phoneRegions` are the countries (ISO 3166-1
 * alpha-2) whose national phone numbers are detected. Both lists may be empty.
 */
export function privacySettings(db: Db, orgId: string): { phoneRegions: string[]; piiPatterns: PiiPattern[] } {
  const row = prepared<[string], { phoneRegions: string; piiPatterns: string }>(
    db,
    'SELECT phoneRegions, piiPatterns FROM org WHERE id = ?',
  ).get(orgId)
  return { phoneRegions: JSON.parse(row?.phoneRegions ?? '[]'), piiPatterns: JSON.parse(row?.piiPatterns ?? '[]') }
}

/** Returns the organizations that have configured countries or patterns for personal data. */
export function orgsWithPrivacy(db: Db): string[] {
  return prepared<[], { id: string }>(
    db,
    `SELECT id FROM org WHERE phoneRegions <> '[]' OR piiPatterns <> '[]' ORDER BY id`,
  )
    .all()
    .map(({ id }) => id)
}

/**
 * Returns the currency (ISO 4217) of the organization's impact values; null when impact values are not amounts of
 * money.
 */
export function currencyOf(db: Db, orgId: string): string | null {
  const find = prepared<[string], { currency: string | null }>(db, 'SELECT currency FROM org WHERE id = ?')
  return find.get(orgId)?.currency ?? null
}

/**
 * Returns whether visitors to the organization's domains must opt in to tracking. False when the organization does not
 * exist.
 */
export function consentOptInOf(db: Db, orgId: string): boolean {
  const find = prepared<[string], { consentOptIn: number }>(db, 'SELECT consentOptIn FROM org WHERE id = ?')
  return find.get(orgId)?.consentOptIn === 1
}

/** Returns the organization's time zone; UTC when it has not been set or the organization does not exist. */
export function timezoneOf(db: Db, orgId: string): string {
  const find = prepared<[string], { timezone: string }>(db, 'SELECT timezone FROM org WHERE id = ?')
  return find.get(orgId)?.timezone ?? 'UTC'
}

/** Returns whether members of the organization need a second factor. False when the organization does not exist. */
export function requiresSecondFactor(db: Db, orgId: string): boolean {
  const find = prepared<[string], { required: number }>(
    db,
    'SELECT requireSecondFactor AS required FROM org WHERE id = ?',
  )
  return find.get(orgId)?.required === 1
}

/** Returns the ids of deleted organizations whose files have not been deleted yet. */
export function deletedOrgs(db: Db): Set<string> {
  return new Set(db.prepare<[], string>('SELECT orgId FROM deletedOrg').pluck().all())
}
