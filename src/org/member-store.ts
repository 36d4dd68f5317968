import type { Role } from '../contract/roles.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { checkEmail } from '../core/email-address.ts'
import { AppError } from '../core/error.ts'
import { newSecret } from '../core/id.ts'
import { secretHash } from '../core/secret-box.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { revokeKeysOf } from './api-key-store.ts'
import { INVITATION_MS, type MemberRecord } from './member.ts'
import { hasSecondFactorSql } from './second-factor.ts'
import { createUser, endAccess } from './store.ts'

/** Identifies a member within one organization; members of other organizations are not found. */
export interface MemberKey {
  orgId: string
  id: string
}

// An invited user may have set a name in another organization, so the name is hidden until the user accepts.
const SELECT_MEMBER = `
  SELECT user.id, email, iif(inviteHash IS NULL, name, NULL) AS name, role,
    iif(inviteHash IS NULL, 'active', 'invited') AS status, member.createdAt,
    (inviteHash IS NULL AND ${hasSecondFactorSql}) AS secondFactor
  FROM member JOIN user ON user.id = member.userId`

type MemberRow = Omit<MemberRecord, 'secondFactor'> & { secondFactor: number }

const memberOf = (row: MemberRow): MemberRecord => ({ ...row, secondFactor: row.secondFactor === 1 })

/** Returns a page of members and invited users, in the order in which the users were created. */
export function listMembers(db: Db, orgId: string, page: PageRequest): Page<MemberRecord> {
  const sql = `${SELECT_MEMBER} WHERE orgId = @orgId`
  return readPage(db, page, { sql, values: { orgId }, sortBy: 'id', itemOf: memberOf })
}

/** Returns a member or invited user. Throws `notFound`. */
export function findMember(db: Db, key: MemberKey): MemberRecord {
  const member = findMemberOrNull(db, key)
  if (!member) throw new AppError('notFound', 'no such member')
  return member
}

/** Returns a member or invited user; null when there is none with this key. */
export function findMemberOrNull(db: Db, { orgId, id }: MemberKey): MemberRecord | null {
  const find = db.prepare<[string, string], MemberRow>(`${SELECT_MEMBER} WHERE orgId = ? AND userId = ?`)
  const row = find.get(orgId, id)
  return row ? memberOf(row) : null
}

/** Returns the member or invited user with this e-mail address; null when there is none. */
export function findMemberByEmail(db: Db, orgId: string, email: string): MemberRecord | null {
  const find = db.prepare<[string, string], MemberRow>(`${SELECT_MEMBER} WHERE orgId = ? AND email = ?`)
  const row = find.get(orgId, email.trim())
  return row ? memberOf(row) : null
}

/** A member whose invitation has been accepted. */
export interface ActiveMember {
  id: string
  name: string | null
  email: string
}

/** Returns the organization's members without invited users. */
export function activeMembers(db: Db, orgId: string): ActiveMember[] {
  return prepared<[string], ActiveMember>(
    db,
    `SELECT user.id, name, email FROM member JOIN user ON user.id = member.userId
     WHERE orgId = ? AND inviteHash IS NULL ORDER BY user.id`,
  ).all(orgId)
}

/** True when the user is a member of the organization and has accepted the invitation. */
export function isActiveMember(db: Db, { orgId, id }: MemberKey): boolean {
  const find = prepared(db, 'SELECT 1 FROM member WHERE orgId = ? AND userId = ? AND inviteHash IS NULL')
  return find.get(orgId, id) !== undefined
}

/**
 * Invites an e-mail address for 7 days, and creates the user if none exists. When the user has already been invited,
 * the new role and token replace the old ones. Throws `invalid` for an invalid address, and `conflict` when the address
 * belongs to a member.
 */
export function invite(
  db: Db,
  clock: Clock,
  { orgId, email, role }: { orgId: string; email: string; role: Role },
): { member: MemberRecord; token: string } {
  const address = checkEmail(email)
  const token = newSecret('in')
  const now = clock.now()
  const member = tx(db, () => {
    if (findMemberByEmail(db, orgId, address)?.status === 'active') {
      throw new AppError('conflict', 'email: this user is already a member')
    }
    const known = db.prepare<[string], { id: string }>('SELECT id FROM user WHERE email = ?').get(address)
    const { id } = known ?? createUser(db, clock, { email: address })
    db.prepare(
      `INSERT INTO member (orgId, userId, role, createdAt, inviteHash, inviteExpiresAt)
       VALUES (@orgId, @id, @role, @now, @inviteHash, @inviteExpiresAt)
       ON CONFLICT (orgId, userId) DO UPDATE
       SET role = excluded.role, inviteHash = excluded.inviteHash, inviteExpiresAt = excluded.inviteExpiresAt`,
    ).run({ orgId, id, role, now, inviteHash: secretHash(token), inviteExpiresAt: now + INVITATION_MS })
    return findMember(db, { orgId, id })
  })
  return { member, token }
}

/** True when the member is the organization's only owner, who can't be removed. */
export function isLastOwner(db: Db, { orgId, id }: MemberKey): boolean {
  const owners = db
    .prepare<[string], { userId: string }>(
      `SELECT userId FROM member WHERE orgId = ? AND role = 'owner' AND inviteHash IS NULL LIMIT 2`,
    )
    .all(orgId)
  return owners.length === 1 && owners[0]?.userId === id
}

function keepAnOwner(db: Db, member: MemberKey): void {
  if (!isLastOwner(db, member)) return
  throw new AppError('conflict', 'the organization must have an owner; make another member an owner first')
}

/** Changes the role, effective from the next request. Throws `notFound`, and `conflict` when no owner would be left. */
export function changeRole(db: Db, member: MemberKey, role: Role): MemberRecord {
  return tx(db, () => {
    findMember(db, member)
    if (role !== 'owner') keepAnOwner(db, member)
    db.prepare('UPDATE member SET role = ? WHERE orgId = ? AND userId = ?').run(role, member.orgId, member.id)
    return findMember(db, member)
  })
}

/**
 * Deletes a membership or an invitation, and revokes the user's API keys in the organization. When it was the user's
 * last organization, `endAccess` revokes the user's remaining access. Throws `notFound`, and `conflict` when no owner
 * would be left.
 */
export function removeMember(db: Db, clock: Clock, member: MemberKey): void {
  tx(db, () => {
    findMember(db, member)
    keepAnOwner(db, member)
    db.prepare('DELETE FROM member WHERE orgId = ? AND userId = ?').run(member.orgId, member.id)
    revokeKeysOf(db, clock, member.id, member.orgId)
    endAccess(db, clock, [member.id])
  })
}

/** A valid invitation and its user. */
export interface Invited {
  orgId: string
  userId: string
  email: string
  passwordHash: string | null
  /** 1 when the user has access by other means: another membership or single sign-on. */
  established: number
}

/** Returns the invitation with this token; null when the token is unknown, used, replaced or expired. */
export function findInvited(db: Db, token: string, now: Instant): Invited | null {
  const find = db.prepare<[object], Invited>(
    `SELECT orgId, userId, email, passwordHash,
       EXISTS (SELECT 1 FROM member AS other WHERE other.userId = user.id AND other.inviteHash IS NULL)
         OR EXISTS (SELECT 1 FROM identity WHERE identity.userId = user.id) AS established
     FROM member JOIN user ON user.id = member.userId WHERE inviteHash = @hash AND inviteExpiresAt > @now`,
  )
  return find.get({ hash: secretHash(token), now }) ?? null
}

/**
 * Makes the invited user a member with this password hash and, when given, this name. Returns false without changes
 * when the invitation is no longer valid or the password has changed since `invited` was read.
 */
export function accept(
  db: Db,
  clock: Clock,
  {
    token,
    invited,
    passwordHash,
    name,
  }: { token: string; invited: Invited; passwordHash: string | null; name: string | null },
): boolean {
  return tx(db, () => {
    const present = findInvited(db, token, clock.now())
    if (present?.passwordHash !== invited.passwordHash || present.established !== invited.established) return false
    db.prepare('UPDATE member SET inviteHash = NULL, inviteExpiresAt = NULL WHERE inviteHash = ?').run(
      secretHash(token),
    )
    db.prepare('UPDATE user SET passwordHash = @passwordHash, name = ifnull(@name, name) WHERE id = @userId').run({
      passwordHash,
      name,
      userId: invited.userId,
    })
    return true
  })
}
